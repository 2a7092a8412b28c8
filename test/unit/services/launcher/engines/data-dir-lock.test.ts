import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DataDirLock } from '../../../../../services/launcher/engines/data-dir-lock.ts';
import { StartFault } from '../../../../../services/launcher/engines/engine.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-test-engines-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = () => mkdtempSync(join(root, 'case-'));

describe('DataDirLock', () => {
  test('waits for an owner that is stopping', async () => {
    const dataDir = folder();
    const lock = await DataDirLock.acquire(dataDir);
    lock.markStopping();
    await expect(DataDirLock.acquire(dataDir, { waitMs: 0 })).rejects.toThrow(
      'is in use by an installation that is still stopping',
    );
    const next = DataDirLock.acquire(dataDir, { waitMs: 5_000, progress: () => lock.release() });
    (await next).release();
  });

  test.each(['', '{', 'null', JSON.stringify({ pid: process.pid, state: 'running' })])(
    'takes over from an owner that died and left %j',
    async (text) => {
      const dataDir = folder();
      writeFileSync(join(dataDir, 'lock'), text);
      const lock = await DataDirLock.acquire(dataDir);
      await expect(DataDirLock.acquire(dataDir)).rejects.toThrow(
        `in use by a running installation (pid ${process.pid})`,
      );
      lock.release();
    },
  );

  test('refuses a directory that it cannot lock', async () => {
    const dataDir = folder();
    mkdirSync(join(dataDir, 'lock.sqlite'));
    await expect(DataDirLock.acquire(dataDir)).rejects.toThrow(StartFault);
  });
});
