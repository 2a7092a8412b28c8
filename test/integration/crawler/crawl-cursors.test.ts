import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ListingPolling } from '../../../services/crawler/listing-source.ts';
import type { ListingPosition } from '../../../services/crawler/listing-timeline.ts';
import { CommunityCounts } from '../../../services/crawler/community-counts.ts';
import { SourcePersistence } from '../../../services/crawler/source-persistence.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { readCursor, saveCursor } from '../../../shared/crawl/crawl-cursors.ts';
import { listGaps } from '../../../shared/crawl/crawl-gaps.ts';
import type { CrawlGap } from '../../../shared/crawl/crawl-gaps.ts';
import { takeLease } from '../../../shared/maintenance/leases.ts';
import { prepareRestored } from '../../../shared/maintenance/restored-numbers.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { CommunityCount } from '../../../shared/crawl/community-rates.ts';
import { addCommunityCounts, readCommunityRates, trimCommunityRates } from '../../../shared/crawl/community-rates.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

function persistenceOf(db: Queryable, source: string, position?: unknown): SourcePersistence {
  return new SourcePersistence({
    db,
    source,
    holder: 'early',
    takeLease: (lease) => takeLease(database.pool, lease),
    outages: { failed: () => undefined, succeeded: () => undefined },
    position: () => position,
    logger: silentLogger(),
    clock: Date.now,
  });
}

/** A database during whose next statement of a kind something happens. */
function queueingDuring(kind: 'INSERT' | 'UPDATE', happen: () => void): Queryable {
  let isDue = true;
  return {
    query: async (...args: [string, unknown[]]) => {
      const result = await database.pool.query(...args);
      if (isDue && args[0].includes('INSERT') === (kind === 'INSERT')) {
        isDue = false;
        happen();
      }
      return result;
    },
  } as Queryable;
}

/** The end of every gap of a source, and how many items were found in it; undefined while it is open. */
async function gapsOf(source: string): Promise<[end: string | undefined, found: number | undefined][]> {
  const gaps = await listGaps(database.pool, { from: 0, to: Date.now() + 60_000, limit: 10 });
  return gaps
    .filter((gap) => gap.source === source)
    .map(({ beforeThing, closedAt, found }) => [beforeThing, closedAt === undefined ? undefined : found]);
}

/** A stretch that begins where the one of the number before ends. */
function idGap(source: string, n: number): CrawlGap {
  const things = { afterThing: `t3_${n}`, beforeThing: `t3_${n + 1}` };
  return { source, reason: 'skipped', ...things, afterAt: undefined, beforeAt: undefined };
}

test('a process that was suspended does not overwrite the cursor of the process that acquired its lease', async () => {
  const { pool } = database;
  const lease = { name: 'crawl:listings:comments', seconds: 0 };
  const save = (holder: string, position: unknown) =>
    saveCursor(pool, { source: 'listings:comments', position, lease: { name: lease.name, holder } });
  expect(await takeLease(pool, { ...lease, holder: 'paused' })).toBe(true);
  expect(await save('paused', { at: 1 })).toBe(true);
  expect(await takeLease(pool, { ...lease, holder: 'next' })).toBe(true);
  expect(await save('next', { at: 30 })).toBe(true);
  expect(await save('paused', { at: 2 })).toBe(false);
  expect(await readCursor(pool, 'listings:comments')).toEqual({ at: 30 });
});

test('the first position of a holder is saved at once, so that no successor begins as on the first start', async () => {
  const stopping = new AbortController();
  const position = { at: 1 };
  let queries = 0;
  const db = {
    query: (...args: [string, unknown[]]) => {
      queries += 1;
      return database.pool.query(...args);
    },
  } as Queryable;
  const persistence = persistenceOf(db, 'listings:early', position);
  expect(await persistence.takeLease()).toBe(true);
  expect(await persistence.readCursor()).toBeUndefined();
  const running = persistence.run(stopping.signal, () => undefined);
  const before = queries;
  persistence.markMoved();
  await setImmediate();
  expect(queries, 'it is under way without a wait for the next checkpoint').toBe(before + 1);
  await eventually('the position is saved', async () => {
    return (await readCursor(database.pool, 'listings:early')) !== undefined;
  });
  stopping.abort();
  await running;
});

test('a gap that is queued with its end while other gaps are written is written and closed next', async () => {
  const source = 'comment-ids';
  const db = queueingDuring('INSERT', () => {
    persistence.recordGap(idGap(source, 2));
    persistence.closeGap({ beforeThing: 't3_3', found: 3, outcome: 'filled' });
  });
  const persistence = persistenceOf(db, source);
  persistence.recordGap(idGap(source, 1));
  await persistence.writeGaps();
  await persistence.writeGaps();
  expect(await gapsOf(source)).toEqual([
    ['t3_3', 3],
    ['t3_2', undefined],
  ]);
});

describe('the rates of communities', () => {
  afterEach(async () => {
    await database.pool.query('TRUNCATE community_rates');
  });

  function count(subreddit: string, comments: number, more: Partial<CommunityCount> = {}): CommunityCount {
    return { subreddit, comments, posts: 0, ...more };
  }

  /** As if everything had been counted so many seconds earlier. */
  async function age(seconds: number): Promise<void> {
    await database.pool.query(
      `UPDATE community_rates SET first_at = first_at - make_interval(secs => $1),
                                updated_at = updated_at - make_interval(secs => $1)`,
      [seconds],
    );
  }

  async function readAll() {
    const slices = await Promise.all(
      [0, 1, 2, 3].map((slice) => readCommunityRates(database.pool, { slice, slices: 4 })),
    );
    return { slices, byName: new Map(slices.flatMap(({ communities }) => communities).map((c) => [c.subreddit, c])) };
  }

  test('adds counts of several processes and reads them as rates over the time that was measured', async () => {
    await addCommunityCounts(database.pool, [count('tea', 300, { posts: 30 }), count('rust', 60)]);
    await age(3600);
    await Promise.all([
      addCommunityCounts(database.pool, [count('tea', 300), count('rust', 0)]),
      addCommunityCounts(database.pool, [count('rust', 60), count('tea', 0)]),
    ]);
    const { byName } = await readAll();
    // Six hundred in an hour, of which half are counted for an hour and have decayed by 4 %.
    expect((byName.get('tea')?.comments ?? 0) * 3600).toBeCloseTo(600, -1);
    expect((byName.get('tea')?.posts ?? 0) * 3600).toBeCloseTo(29.4, 0);
  });

  test('stores the counts of names that Postgres cannot store', async () => {
    const counts = new CommunityCounts();
    for (const name of ['a\ud800', 'a\udc00', 'a\u0000']) counts.addItem('comment', name);
    await addCommunityCounts(database.pool, counts.take());
    const { rows } = await database.pool.query('SELECT subreddit, comments FROM community_rates');
    expect(rows).toEqual([{ subreddit: 'a\ufffd', comments: 3 }]);
  });

  test('puts each community into one slice, and tells the part of a slice in all comments', async () => {
    const names = Array.from({ length: 400 }, (_, n) => `c${n}`);
    await addCommunityCounts(
      database.pool,
      names.map((name) => count(name, 10)),
    );
    const { slices, byName } = await readAll();
    expect(byName.size).toBe(400);
    expect(slices.reduce((sum, { communities }) => sum + communities.length, 0)).toBe(400);
    for (const { communities, share } of slices) {
      expect(communities.length).toBeGreaterThan(60);
      expect(share).toBeCloseTo(communities.length / 400);
    }
  });

  test('keeps the most active communities', async () => {
    await addCommunityCounts(
      database.pool,
      Array.from({ length: 50 }, (_, n) => count(`c${n}`, n)),
    );
    expect(await trimCommunityRates(database.pool, 10)).toBe(40);
    const { byName } = await readAll();
    expect([...byName.keys()].sort()).toEqual(Array.from({ length: 10 }, (_, n) => `c${40 + n}`));
  });
});

test('after a restoration listings are read again from before the backup: what they read last may not be stored', async () => {
  const START = Date.UTC(2026, 0, 1);
  const listed = Array.from({ length: 900 }, (_, n) => ({
    name: `t1_c${n}`,
    createdAt: START + n * 100,
    subreddit: 'tea',
    postId: 'p',
  }));
  let now = START;
  /** Reads the listing as it is when its newest item is `newest`, until nothing is left to read. */
  const readAll = (polling: ListingPolling, newest: number): Set<string> => {
    const read = new Set<string>();
    now += 10_000;
    for (;;) {
      const step = polling.next(now, 100);
      if ('waitMs' in step && step.waitMs >= 1_000) return read;
      now += 'waitMs' in step ? step.waitMs : 1;
      if ('waitMs' in step) continue;
      const from = step.after === undefined ? newest : listed.findIndex(({ name }) => name === step.after) - 1;
      const items = listed.slice(Math.max(0, from - 99), from + 1).reverse();
      for (const { name } of items) read.add(name);
      polling.learn(step, { items, after: items.at(-1)?.name }, now);
    }
  };
  const lost = new ListingPolling({ maxIntervalMs: 10_000 });
  for (let newest = 99; newest < 900; newest += 80) readAll(lost, newest);
  const groups = { groups: [{ names: ['tea'], at: START }], rest: START };
  await database.pool.query(
    `INSERT INTO crawl_cursors (source, position) VALUES ('listings:lost', $1), ('listings:groups:lost', $2)`,
    [lost.position(), groups],
  );
  await prepareRestored(database.pool);
  const position = (await readCursor(database.pool, 'listings:lost')) as ListingPosition;
  expect(readAll(new ListingPolling({ maxIntervalMs: 10_000, position }), 899).size).toBeGreaterThanOrEqual(400);
  const minute = 60_000;
  expect(await readCursor(database.pool, 'listings:groups:lost')).toEqual({
    groups: [{ names: ['tea'], at: START - minute }],
    rest: START - minute,
  });
});
