import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../../..');
const MAIN = join(ROOT, 'test/support/children/stopping-consumer.ts');
const SOURCE = join(ROOT, 'shared/kafka/kafkajs-mends/end-orphaned-fetchers.ts');
/** Calls it twice with a Runner of another version. */
const SCRIPT = `
  import { createRequire } from 'node:module';
  import { endOrphanedFetchers } from ${JSON.stringify(SOURCE)};
  createRequire(${JSON.stringify(SOURCE)})('kafkajs/src/consumer/runner.js').prototype.fetch = undefined;
  for (let call = 0; call < 2; call++) {
    try {
      endOrphanedFetchers();
      console.log('mended');
    } catch (error) {
      console.log(error.message);
    }
  }`;

/** Runs Node in a process of its own, which can be killed when its thread is busy for ever. */
function run(...args: string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 90_000, killSignal: 'SIGKILL' });
}

test('a consumer that stops while the brokers change ends without an error, and leaves the thread free', () => {
  const { stdout, signal } = run(MAIN);
  expect(signal).toBeNull();
  expect(JSON.parse(stdout)).toEqual({ stopped: true, crashes: 0 });
});

test('a version of kafkajs that is built differently is refused each time', () => {
  const message = 'the Runner of kafkajs has no method fetch: end-orphaned-fetchers.ts mends 2.2.4, check it again\n';
  expect(run('--input-type=module-typescript', '-e', SCRIPT).stdout).toBe(message + message);
});
