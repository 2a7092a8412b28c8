import type { ForumReadingDeps } from '../../../services/api/api-app.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { createUpstream } from '../../../shared/forum-client/upstream-client.ts';
import { RunningSimulator } from './running-simulator.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

export interface TestForum {
  simulator: RunningSimulator;
  /** For startTestApi. */
  forum: ForumReadingDeps;
  /** Makes the simulator fail, see its control routes; `calm` ends it. */
  fault(fault: object): Promise<void>;
  calm(): Promise<void>;
  stop(): Promise<void>;
}

export const SITE_URL = 'https://www.reddit.com';

/** The simulator over real HTTP, and a client of it for an API. */
export async function startTestForum(): Promise<TestForum> {
  const simulator = await RunningSimulator.start();
  const clock = () => simulator.clock;
  const upstream = createUpstream({
    url: simulator.url,
    tokenUrl: `${simulator.url}/api/v1/access_token`,
    userAgent: 'test:reading:1 (by /u/tester)',
    clients: [{ id: 'id', secret: 'secret' }],
    clock,
    metrics: createMetrics(),
    logger: silentLogger(),
  });
  const faults = (method: string, body?: object) =>
    fetch(`${simulator.url}/simulator/faults`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    simulator,
    forum: { upstream, siteUrl: SITE_URL, clock, disk: undefined },
    async fault(fault) {
      const response = await faults('POST', fault);
      if (!response.ok) throw new Error(`the simulator refused a fault: ${await response.text()}`);
    },
    async calm() {
      await faults('DELETE');
      // Longer than any pause that the forum requested.
      simulator.clock += 60_000;
    },
    async stop() {
      await upstream.stop();
      await simulator.stop();
    },
  };
}
