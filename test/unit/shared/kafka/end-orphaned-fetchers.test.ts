import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../../../support/children/stopping-consumer.ts');

test('a consumer that stops while the brokers change ends, and leaves the thread free', () => {
  // Without the mending the process would be busy for ever, so it is another one that can be killed.
  const { stdout, signal } = spawnSync(process.execPath, [MAIN], {
    encoding: 'utf8',
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  expect(signal).toBeNull();
  expect(JSON.parse(stdout)).toEqual({ stopped: true, crashes: 0 });
});
