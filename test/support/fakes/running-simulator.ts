import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../../../services/simulator/simulator.ts';
import type { WorldOptions } from '../../../services/simulator/world.ts';

export const AGENT = 'test:simulator:1.0 (by /u/tester)';

export interface Thing {
  kind: string;
  data: Record<string, unknown>;
}

export interface Listing {
  kind: 'Listing';
  data: { after: string | null; before: null; dist: number | null; children: Thing[] };
}

export const namesOf = (listing: Listing): string[] => listing.data.children.map((thing) => String(thing.data.name));

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
    const access = { seed: 1, callsPerWindow: 100_000, windowMs: 600_000, clients: new Map<string, string>() };
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

  ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'user-agent': AGENT, authorization: `bearer ${this.token}`, ...(init.headers as object) };
    return fetch(this.url + path, { redirect: 'manual', ...init, headers });
  }

  /** The JSON of an answer, which must be 200. */
  async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await this.ask(path, init);
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as T;
  }

  control(path: string, body: object): Promise<Response> {
    return fetch(`${this.url}/simulator/${path}`, { method: 'POST', body: JSON.stringify(body) });
  }
}
