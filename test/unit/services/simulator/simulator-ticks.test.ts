import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startSimulator } from '../../../../services/simulator/simulator.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'forum-test-simulator-'));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

/** How often a forum that nobody asks for anything looks at the clock in a second. */
async function looksInASecond(emittedLog: string | undefined): Promise<number> {
  let looks = 0;
  const access = { seed: 1, callsPerWindow: 1_000, windowMs: 600_000, clients: new Map<string, string>() };
  const world = {
    directory,
    seed: 1,
    rate: 20,
    ids: 'sequential',
    holes: 0,
    late: 0,
    history: 0,
    count: undefined,
  } as const;
  const simulator = await startSimulator({ port: 0, access, world: { ...world, emittedLog } }, () => {
    looks += 1;
    return Date.now();
  });
  looks = 0;
  vi.advanceTimersByTime(1_000);
  const seen = looks;
  await simulator.stop();
  return seen;
}

test('a forum that nobody asks sleeps, unless it writes a log of what it emits', async () => {
  expect(await looksInASecond(undefined)).toBe(2);
  expect(await looksInASecond(join(directory, 'emitted.jsonl'))).toBe(50);
});
