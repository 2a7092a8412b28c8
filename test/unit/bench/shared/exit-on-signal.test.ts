import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../../bench/shared/exit-on-signal.ts');

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])('%s ends a process with status %i, after its exit listeners', (signal, status) => {
  const script = `
    import { exitOnSignal } from ${JSON.stringify(SOURCE)};
    exitOnSignal();
    process.on('exit', () => console.log('children are killed'));
    setInterval(() => undefined, 1_000);
    process.kill(process.pid, ${JSON.stringify(signal)});`;
  const args = ['--input-type=module-typescript', '-e', script];
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 90_000, killSignal: 'SIGKILL' });
  expect(ended).toMatchObject({ status, signal: null, stdout: 'children are killed\n' });
});
