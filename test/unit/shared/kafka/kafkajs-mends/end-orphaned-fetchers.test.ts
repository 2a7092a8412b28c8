import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../../..');
const MAIN = join(ROOT, 'test/support/children/stopping-consumer.ts');

/** Runs Node in a process of its own, which can be killed when its thread is busy for ever. */
function run(...args: string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 90_000, killSignal: 'SIGKILL' });
}

test('a consumer that stops while the brokers change ends without an error, and leaves the thread free', () => {
  const { stdout, signal } = run(MAIN);
  expect(signal).toBeNull();
  expect(JSON.parse(stdout)).toEqual({ stopped: true, crashes: 0 });
});
