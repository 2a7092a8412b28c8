import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { logTail, startOwnedProcess } from '../../../../../services/launcher/engines/owned-process.ts';
import { StartFault } from '../../../../../services/launcher/engines/start-fault.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-test-engines-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = () => mkdtempSync(join(root, 'case-'));

function options(command: string, args: string[]) {
  const dataDir = folder();
  return {
    name: 'sleeper',
    command,
    args,
    env: process.env,
    pidFile: join(dataDir, 'run', 'sleeper.pid'),
    marker: dataDir,
    output: join(dataDir, 'logs', 'sleeper.log'),
    stopSignal: 'SIGTERM' as const,
    stopDeadlineMs: 200,
  };
}

describe('an owned process', () => {
  test('is recorded in its pid file while it runs, and logs to its file', async () => {
    const settings = options('/bin/sh', ['-c', 'echo ready; exec sleep 60']);
    const owned = await startOwnedProcess(settings);
    expect(JSON.parse(readFileSync(settings.pidFile, 'utf8'))).toMatchObject({
      pid: owned.pid,
      marker: settings.marker,
    });
    await expect.poll(() => logTail(settings.output)).toBe('ready');
    expect(owned.end()).toBeUndefined();
    expect(await owned.stop()).toEqual({ code: null, signal: 'SIGTERM' });
    expect(() => readFileSync(settings.pidFile)).toThrow('ENOENT');
  });

  test('is killed when it ignores the stop signal until the deadline', async () => {
    const settings = options('/bin/sh', ['-c', 'trap "" TERM; echo ready; sleep 60']);
    const owned = await startOwnedProcess(settings);
    await expect.poll(() => logTail(settings.output)).toBe('ready');
    expect(await owned.stop()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('fails with a StartFault if the command does not exist', async () => {
    await expect(startOwnedProcess(options('/no/such/program', []))).rejects.toThrow(StartFault);
  });

  test('does not run on when it cannot be recorded', async () => {
    const settings = options('/bin/sh', ['-c', 'trap "" TERM; sleep 0.3; echo alive']);
    // A file where the folder of the pid file should be.
    writeFileSync(join(settings.marker, 'run'), '');
    const failure: unknown = await startOwnedProcess(settings).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFault);
    expect((failure as StartFault).message).toMatch(/^sleeper could not be started: .*run/);
    await wait(600);
    expect(logTail(settings.output)).toBe('');
  });
});
