import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { ActiveMonitors } from '../../../services/matcher/active-monitors.ts';
import { MonitorChanges } from '../../../services/matcher/monitor-changes.ts';
import { RecentItems } from '../../../services/matcher/recent-items.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { readActiveStates } from '../../../shared/monitors/monitor-rules.ts';
import { CooperativeYield } from '../../../shared/runtime/clock.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { commentItem } from '../../support/samples/forum-items.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** By which the clocks of two servers may differ. */
const TOLERANCE_MS = 500;

let db: TestDatabase;
let proxy: TcpProxy;
let pool: Pool;
let monitors: ActiveMonitors;
let recent: RecentItems;
let published: Candidate[];
let unexpected: Error[];
let changes: MonitorChanges;
/** What publishing waits for or fails with. */
let publishing: () => Promise<void>;
/** Runs after a statement was answered and before the caller gets its answer. */
let answered: (statement: string) => Promise<void>;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query('TRUNCATE monitors, monitor_versions, monitor_counters CASCADE');
  proxy = await TcpProxy.start(db.url);
  pool = createPool({ url: proxy.url, name: 'changes', logger: silentLogger(), max: 2 });
  monitors = new ActiveMonitors();
  recent = new RecentItems();
  published = [];
  unexpected = [];
  publishing = () => Promise.resolve();
  answered = () => Promise.resolve();
  const query = async (statement: string, values: unknown[]) => {
    const result = await pool.query(statement, values);
    await answered(statement);
    return result;
  };
  changes = new MonitorChanges({
    db: { query } as Queryable,
    monitors,
    recent,
    toleranceMs: TOLERANCE_MS,
    publish: async (records) => {
      await publishing();
      for (const { value } of records) published.push(JSON.parse(String(value)) as Candidate);
    },
    cooperativeYield: new CooperativeYield(),
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

/** A recent item that entered now, or this many milliseconds ago. */
function enter(offset: number, agoMs = 0, now = Date.now()): void {
  recent.add('forum.comments|0', {
    offset: BigInt(offset),
    enteredAtMs: now - agoMs,
    message: Buffer.from(JSON.stringify(commentItem(offset, 'rust'))),
  });
}

async function createNow(): Promise<string> {
  const [id] = await insertMonitors(db.pool, 1, { activeSince: new Date().toISOString() });
  return id!;
}

test('12,001 monitors are loaded; a comparison finds 6,000 pauses and 6,001 new rules at once', async () => {
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
    const message = Buffer.from(JSON.stringify(commentItem(offset, 'rust')));
    recent.add('forum.comments|0', { offset: BigInt(offset), enteredAtMs: at, message });
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

test('finds an unannounced change within a minute', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    await changes.load();
    const id = await createNow();
    enter(1);
    vi.advanceTimersByTime(59_999);
    await changes.settled(forEver);
    expect(monitors.size).toBe(0);
    vi.advanceTimersByTime(1);
    await eventually('the new one is scanned for', () => monitorsOf().join() === id);
  } finally {
    vi.useRealTimers();
  }
});

test('changes made while a comparison reads page after page are applied in the end, whether announced before it began or not', async () => {
  const ids = (await insertMonitors(db.pool, 9_000)).sort();
  await changes.load();
  const silent = [ids[10]!, ids[4_500]!, ids[8_990]!];
  await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = ANY ($1)`, [silent]);
  let pages = 0;
  answered = async (statement) => {
    if (!statement.includes('AS states')) return;
    pages++;
    // One before and one after the comparison's position, and a new one.
    const [paused, renewed] = [ids[pages * 20]!, ids[ids.length - pages * 20]!];
    await db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [paused]);
    await db.pool.query(`UPDATE monitors SET version = 2, keywords = '{iron}' WHERE id = $1`, [renewed]);
    for (const id of [paused, renewed, await createNow()]) changes.markChanged(id);
  };
  await changes.compare();
  answered = () => Promise.resolve();
  await changes.settled(forEver);
  expect(pages).toBeGreaterThan(4);
  const active = await readActiveStates(db.pool, '', 20_000);
  expect(active.filter((state) => !monitors.isUpToDate(state))).toEqual([]);
  expect([...monitors.ids()].sort()).toEqual(active.map(({ id }) => id));
});

test('an unexpected error ends the process, and no offset is committed after it', async () => {
  await changes.load();
  answered = () => Promise.reject(new Error('a fault of ours'));
  let resumed = false;
  void changes.compare().then(() => (resumed = true));
  changes.markChanged(await createNow());
  await eventually('it is told', () => unexpected.length > 0);
  await expect(changes.settled(forEver)).rejects.toThrow();
  await expect(changes.settled(forEver), 'nor when nothing is under way any more').rejects.toThrow();
  expect(unexpected.splice(0).map(({ message }) => message)).toEqual(['a fault of ours']);
  expect(resumed).toBe(false);
});

test('`settled` also waits for announcements received while another change is being published', async () => {
  await changes.load();
  const [one, two] = [await createNow(), await createNow()];
  enter(1);
  let open: () => void = () => undefined;
  const admissionControl = new Promise<void>((resolve) => (open = resolve));
  let reached = false;
  publishing = () => {
    reached = true;
    return admissionControl;
  };
  changes.markChanged(one);
  await eventually('the first one is being published', () => reached);
  changes.markChanged(two);
  const settled = changes.settled(forEver);
  open();
  await settled;
  expect(monitorsOf()).toEqual([one, two].sort());
});

test('`settled` does not wait when the partition is revoked', async () => {
  await changes.load();
  proxy.goAway();
  changes.markChanged(await createNow());
  const lost = new AbortController();
  const settled = changes.settled(lost.signal);
  lost.abort();
  await settled;
  await changes.settled(lost.signal);
  expect(published).toEqual([]);
});

test('several new monitors are each scanned for from their own start, by clocks that may differ', async () => {
  await changes.load();
  const now = Date.now();
  const began = (agoMs: number) => ({ activeSince: new Date(now - agoMs).toISOString() });
  const [early] = await insertMonitors(db.pool, 1, began(20_000));
  const [late] = await insertMonitors(db.pool, 1, began(5_000));
  enter(1, 25_000, now);
  enter(2, 10_000, now);
  // Before the second one began, but within the tolerance.
  enter(3, 5_400, now);
  // Both are announced while another one is read, and so applied together.
  for (const id of ['mon_unknown', early!, late!]) changes.markChanged(id);
  await changes.settled(forEver);
  expect(published.map(({ monitor_id, item }) => `${monitor_id} ${item.thing_id}`).sort()).toEqual(
    [`${early} t1_2`, `${early} t1_3`, `${late} t1_3`].sort(),
  );
});
