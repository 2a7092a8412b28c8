import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { identifyProcess } from '../../../../shared/runtime/process-identity.ts';

test('returns the command line of a running process, and undefined once it has ended', async () => {
  const child = spawn('/bin/sh', ['-c', 'sleep 60; true', 'marker-1'], { stdio: 'ignore' });
  expect(identifyProcess(child.pid!)?.command).toContain('marker-1');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(identifyProcess(child.pid!)).toBeUndefined();
});
