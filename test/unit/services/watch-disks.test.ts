import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { watchDisks, watchedFolders } from '../../../services/watch-disks.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { DiskSpace } from '../../../services/watch-disks.ts';

const MB = 1024 ** 2;
const folder = mkdtempSync(join(tmpdir(), 'forum-disks-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the folders are the data directory and those of embedded engines', () => {
  const names = (ownsDataDir: boolean, kafka: boolean) =>
    watchedFolders({ dataDir: '/d', embedded: { kafka, postgres: false, clickhouse: kafka } }, { ownsDataDir }).map(
      ({ name, path }) => `${name} ${path}`,
    );
  expect(names(true, true)).toEqual(['data_dir /d', 'kafka /d/kafka', 'clickhouse /d/clickhouse']);
  expect(names(true, false)).toEqual(['data_dir /d']);
  expect(names(false, false)).toEqual([]);
});

/** A disk of 100 GB that the data directory and Kafka share, and one of ClickHouse. */
async function stage() {
  const free = { shared: 50_000 * MB, own: 50_000 * MB };
  const lines: string[] = [];
  const log = (_fields: object, line: string) => void lines.push(line);
  const metrics = createMetrics();
  let onLook: (() => void) | undefined;
  const reservePath = join(folder, 'reserve');
  const watch = await watchDisks({
    folders: ['data_dir', 'kafka', 'clickhouse'].map((name) => ({
      name,
      path: `/${name}`,
      takesItems: name !== 'clickhouse',
    })),
    reservePath,
    metrics,
    logger: { error: log, warn: log } as unknown as Pick<Logger, 'error' | 'warn'>,
    read: (path): Promise<DiskSpace> => {
      if (path === '/data_dir') onLook?.();
      const isOwn = path === '/clickhouse';
      return Promise.resolve({ free: isOwn ? free.own : free.shared, size: 100_000 * MB, device: isOwn ? 2 : 1 });
    },
    intervalMs: 1,
  });
  const set = async (disk: 'shared' | 'own', megabytes: number) => {
    free[disk] = megabytes * MB;
    // The second look from now on begins after a whole one.
    for (let look = 0; look < 3; look++) await new Promise<void>((resolve) => (onLook = resolve));
  };
  return { watch, metrics, lines, set, reservePath };
}

test('crawling pauses while a disk is almost full, which is logged once, and goes on by itself', async () => {
  const { watch, metrics, lines, set } = await stage();
  const paused = async () => (await metrics.crawlerPaused.get()).values[0]?.value;
  expect([watch.hasRoom(), await paused()]).toEqual([true, 0]);
  await set('shared', 200);
  expect([watch.hasRoom(), await paused()]).toEqual([false, 1]);
  const { values } = await metrics.diskFree.get();
  expect(values.map(({ labels, value }) => [labels.disk, value / MB])).toEqual([
    ['data_dir', 200],
    ['kafka', 200],
    ['clickhouse', 50_000],
  ]);
  // A little more than the limit is not enough to go on.
  await set('shared', 260);
  expect(watch.hasRoom()).toBe(false);
  await set('shared', 1_000);
  expect([watch.hasRoom(), await paused()]).toEqual([true, 0]);
  // Crawling does not wait for the disk of another engine: Kafka keeps the items.
  await set('own', 0);
  expect([watch.hasRoom(), await paused()]).toEqual([true, 0]);
  await set('own', 1_000);
  await watch.stop();
  expect(lines).toEqual([
    'the disk of /data_dir is almost full: crawling is paused until there is space',
    'the disk of /data_dir has space again',
    'the disk of /clickhouse is almost full',
    'the disk of /clickhouse has space again',
  ]);
});

test('a reserve is kept, released when the disk is full, and kept again when there is much room', async () => {
  const { watch, lines, set, reservePath } = await stage();
  expect(statSync(reservePath).size).toBe(48 * MB);
  await set('shared', 100);
  expect(existsSync(reservePath)).toBe(true);
  await set('shared', 10);
  expect(existsSync(reservePath)).toBe(false);
  expect(lines.at(-1)).toBe(
    'the disk of /data_dir is full: the reserve is released so that reads and pages keep working',
  );
  await set('shared', 340);
  expect(existsSync(reservePath)).toBe(false);
  await set('shared', 1_000);
  await watch.stop();
  expect(statSync(reservePath).size).toBe(48 * MB);
});
