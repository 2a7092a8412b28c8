import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { endOrphan, isOurs } from '../../../../../services/launcher/engines/orphan.ts';
import { identifyProcess } from '../../../../../shared/runtime/process-identity.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-test-engines-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = () => mkdtempSync(join(root, 'case-'));
const sleeper = (...words: string[]) => spawn('/bin/sh', ['-c', 'sleep 60; true', ...words], { stdio: 'ignore' });

describe('an orphan', () => {
  const record = { pid: 7, startedAt: 'boot:12', marker: '/data/kafka/server.properties' };

  test.each([
    ['the recorded process', { startedAt: 'boot:12', command: 'java kafka.Kafka /data/kafka/server.properties' }, true],
    [
      'a process of another installation',
      { startedAt: 'boot:12', command: 'java kafka.Kafka /other/server.properties' },
      false,
    ],
    ['a later process with its pid', { startedAt: 'boot:99', command: 'vi /data/kafka/server.properties' }, false],
    ['no process', undefined, false],
  ])('is told apart from others: %s', (_, living, expected) => expect(isOurs(record, living)).toBe(expected));

  test('is ended when the pid file names it', async () => {
    const child = sleeper('orphan-of-ours');
    const ended = once(child, 'exit');
    const pidFile = join(folder(), 'x.pid');
    const { startedAt } = identifyProcess(child.pid!)!;
    writeFileSync(pidFile, JSON.stringify({ pid: child.pid, startedAt, marker: 'orphan-of-ours' }));
    expect(await endOrphan(pidFile, 'SIGTERM', 5_000)).toBe(true);
    expect((await ended)[1]).toBe('SIGTERM');
  });

  test.each([
    ['has another command line', { marker: 'something else' }],
    ['started at another time', { startedAt: 'never' }],
  ])('is not ended if it %s', async (_, change) => {
    const child = sleeper('not-ours');
    const pidFile = join(folder(), 'x.pid');
    const { startedAt } = identifyProcess(child.pid!)!;
    writeFileSync(pidFile, JSON.stringify({ pid: child.pid, startedAt, marker: 'not-ours', ...change }));
    expect(await endOrphan(pidFile, 'SIGKILL', 100)).toBe(false);
    expect(identifyProcess(child.pid!)).toBeDefined();
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  test.each(['', 'garbage', '{"pid":1}', '{"pid":1,"startedAt":"x","marker":""}'])(
    'ignores the pid file %j',
    async (text) => {
      const pidFile = join(folder(), 'x.pid');
      writeFileSync(pidFile, text);
      expect(await endOrphan(pidFile, 'SIGKILL', 100)).toBe(false);
    },
  );
});
