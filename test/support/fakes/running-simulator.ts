import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../../../services/simulator/simulator.ts';
import type { WorldOptions } from '../../../services/simulator/world.ts';

const AGENT = 'test:simulator:1.0 (by /u/tester)';

/**
 * A simulator in this process, over real HTTP, with a clock that only the test advances and 30,000 items of history.
 */
export class RunningSimulator {
  clock = Date.UTC(2026, 0, 5);
  readonly url: string;
  readonly world: Awaited<ReturnType<typeof startSimulator>>['world'];
  readonly stop: () => Promise<void>;
  token = '';

  private constructor(started: Awaited<ReturnType<typeof startSimulator>>, directory: string) {
    this.url = started.url;
    this.world = started.world;
    this.stop = async () => {
      await started.stop();
      rmSync(directory, { recursive: true });
    };
  }

  static async start(change: Partial<WorldOptions> = {}): Promise<RunningSimulator> {
    const directory = mkdtempSync(join(tmpdir(), 'simulator-http-'));
    const rest = { holes: 0.02, late: 0, history: 30_000, count: undefined, emittedLog: undefined };
    const world = { directory, seed: 1, rate: 50, ids: 'sequential' as const, ...rest, ...change };
    const access = { seed: 1, callsPerWindow: 100_000 };
    const clock = { now: () => Date.UTC(2026, 0, 5) };
    const started = await startSimulator({ port: 0, world, access }, () => clock.now(), false);
    const simulator = new RunningSimulator(started, directory);
    clock.now = () => simulator.clock;
    for (let second = 0; second < 20; second++) {
      simulator.clock += 1000;
      started.world.emission.advance();
    }
    simulator.token = await simulator.newToken();
    return simulator;
  }

  async newToken(): Promise<string> {
    const response = await fetch(`${this.url}/api/v1/access_token`, {
      method: 'POST',
      headers: { 'user-agent': AGENT, authorization: `Basic ${btoa('id:secret')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    if (!response.ok) throw new Error(`no token: ${response.status}`);
    return ((await response.json()) as { access_token: string }).access_token;
  }

  /** The JSON of an answer, which must be 200. */
  async json<T>(path: string): Promise<T> {
    const headers = { 'user-agent': AGENT, authorization: `bearer ${this.token}` };
    const response = await fetch(this.url + path, { headers });
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as T;
  }

  control(path: string, body: object): Promise<Response> {
    return fetch(`${this.url}/simulator/${path}`, { method: 'POST', body: JSON.stringify(body) });
  }
}
