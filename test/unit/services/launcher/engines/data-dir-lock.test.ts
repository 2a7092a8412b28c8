import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DataDirLock } from '../../../../../services/launcher/engines/data-dir-lock.ts';
import { StartFault } from '../../../../../services/launcher/engines/start-fault.ts';

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

  test('takes over from an owner that died, even if another process has its pid', async () => {
    const dataDir = folder();
    const holder = { pid: process.pid, startedAt: 'an earlier boot', state: 'running' };
    writeFileSync(join(dataDir, 'lock'), JSON.stringify(holder));
    const lock = await DataDirLock.acquire(dataDir);
    expect(JSON.parse(readFileSync(join(dataDir, 'lock'), 'utf8'))).not.toEqual(holder);
    lock.release();
  });

  test.each(['', '{', 'null'])('takes over from the broken lock file %j', async (text) => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'lock'), text);
    (await DataDirLock.acquire(dataDir)).release();
  });

  test('leaves a lock alone that it cannot read, because its owner may be alive', async () => {
    const dataDir = folder();
    const path = join(dataDir, 'lock');
    mkdirSync(path);
    const failure: unknown = await DataDirLock.acquire(dataDir).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFault);
    expect((failure as StartFault).message).toContain('an installation of another user may be running');
    expect(readdirSync(dataDir)).toEqual(['lock']);
  });
});
