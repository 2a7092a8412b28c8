import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Candidate } from '../../schemas/candidate.ts';
import { HeldMonitors } from '../../services/matcher/held-monitors.ts';
import { MonitorChanges } from '../../services/matcher/monitor-changes.ts';
import { RecentItems } from '../../services/matcher/recent-items.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { PublishFailed } from '../../shared/kafka/publisher.ts';
import { eventually } from '../support/eventually.ts';
import { commentItem } from '../support/forum-items.ts';
import { insertMonitors } from '../support/recorder-fixtures.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';

let db: TestDatabase;
let proxy: TcpProxy;
let pool: Pool;
let monitors: HeldMonitors;
let recent: RecentItems;
let published: Candidate[];
let unexpected: Error[];
let changes: MonitorChanges;
/** What publishing waits for, or fails with. */
let publishing: () => Promise<void>;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query('TRUNCATE monitors, monitor_versions, monitor_counters CASCADE');
  proxy = await TcpProxy.start(db.url);
  pool = createPool({ url: proxy.url, name: 'changes', logger: silentLogger(), max: 2 });
  monitors = new HeldMonitors();
  recent = new RecentItems();
  published = [];
  unexpected = [];
  publishing = () => Promise.resolve();
  changes = new MonitorChanges({
    db: pool,
    monitors,
    recent,
    toleranceMs: 0,
    publish: async (candidates) => {
      await publishing();
      published.push(...candidates);
    },
    logger: silentLogger(),
    fatal: (error) => void unexpected.push(error),
  });
});
afterEach(async () => {
  await changes.stop();
  await pool.end();
  await proxy.stop();
  expect(unexpected).toEqual([]);
});

const forEver = new AbortController().signal;
const monitorsOf = () => published.map(({ monitor_id }) => monitor_id).sort();

/** An item in the ring that entered just now. */
function enter(offset: number): void {
  recent.add('forum.comments|0', {
    offset: BigInt(offset),
    enteredAtMs: Date.now(),
    item: commentItem(offset, 'rust'),
  });
}

async function createNow(): Promise<string> {
  const [id] = await insertMonitors(db.pool, 1, { activeSince: new Date().toISOString() });
  return id!;
}

test('12,001 monitors are loaded; 6,000 pauses and 6,001 new rules at once are found by comparison', async () => {
  const ids = await insertMonitors(db.pool, 12_001);
  await changes.load();
  expect(monitors.size).toBe(12_001);
  await db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = ANY ($1)`, [ids.slice(0, 6_000)]);
  await db.pool.query(
    `WITH changed AS (UPDATE monitors SET version = 2, keywords = '{iron,rust}' WHERE status = 'active' RETURNING id)
     INSERT INTO monitor_versions (monitor_id, version, since) SELECT id, 2, wall_now() FROM changed`,
  );
  const { rows } = await db.pool.query<{ now: Date }>('SELECT wall_now() AS now');
  for (const [offset, at] of [
    [1, rows[0]!.now.getTime() - 60_000],
    [2, rows[0]!.now.getTime()],
  ] as const) {
    recent.add('forum.comments|0', { offset: BigInt(offset), enteredAtMs: at, item: commentItem(offset, 'rust') });
  }
  await changes.compare();
  expect(monitors.size).toBe(6_001);
  expect(published).toHaveLength(6_001);
  expect(new Set(published.map(({ item, monitor_version }) => `${monitor_version} ${item.thing_id}`))).toEqual(
    new Set(['2 t1_2']),
  );
  await changes.compare();
  expect(published, 'a second comparison finds nothing').toHaveLength(6_001);
});

test('settled waits also for what was heard while another change was being published', async () => {
  await changes.load();
  const [one, two] = [await createNow(), await createNow()];
  enter(1);
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let reached = false;
  publishing = () => {
    reached = true;
    return gate;
  };
  changes.change(one);
  await eventually('the first one is being published', () => reached);
  changes.change(two);
  const settled = changes.settled(forEver);
  open();
  await settled;
  expect(monitorsOf()).toEqual([one, two].sort());
});

test('settled does not wait when the partition is given up', async () => {
  await changes.load();
  proxy.goAway();
  changes.change(await createNow());
  const lost = new AbortController();
  const settled = changes.settled(lost.signal);
  lost.abort();
  await settled;
  await changes.settled(lost.signal);
  expect(published).toEqual([]);
});

test('Postgres away while changes come: they are taken over when it is back, and nothing ends', async () => {
  await changes.load();
  const [one, two] = [await createNow(), await createNow()];
  enter(1);
  proxy.goAway();
  changes.change(one);
  const compared = changes.compare();
  changes.change(two);
  proxy.comeBack();
  await Promise.all([compared, changes.settled(forEver)]);
  expect(monitorsOf()).toEqual([one, two].sort());
});

test('Kafka away while a scan is published: it is published when Kafka is back', async () => {
  await changes.load();
  const id = await createNow();
  enter(1);
  let failures = 0;
  publishing = () => (failures++ < 2 ? Promise.reject(new PublishFailed('away')) : Promise.resolve());
  changes.change(id);
  await changes.settled(forEver);
  expect(monitorsOf()).toEqual([id]);
});

test('an announcement of nothing, of a deleted monitor, or repeated, changes nothing', async () => {
  await changes.load();
  const id = await createNow();
  enter(1);
  for (const name of ['', 'mon_unknown', id, id]) changes.change(name);
  await changes.settled(forEver);
  changes.change(id);
  await changes.settled(forEver);
  expect(monitorsOf()).toEqual([id]);
  await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [id]);
  changes.change(id);
  await changes.settled(forEver);
  expect(monitors.size).toBe(0);
});
