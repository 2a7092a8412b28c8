import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NoticedGap } from '../../../shared/crawl/crawl-gaps.ts';
import {
  closeGap,
  giveUpGaps,
  listGaps,
  noteGapFound,
  openGaps,
  readOpenGaps,
} from '../../../shared/crawl/crawl-gaps.ts';
import { countLostRecords, noteLostRecords } from '../../../shared/crawl/lost-records.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(async () => {
  await db.pool.query('TRUNCATE crawl_gaps RESTART IDENTITY');
  await db.freeze();
});
afterAll(() => db.drop());

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

async function now(): Promise<number> {
  const { rows } = await db.pool.query<{ now: Date }>('SELECT service_now() AS now');
  return rows[0]!.now.getTime();
}

/** A gap from `after` to `before`, in seconds of some day. */
function gap(after: number, before: number, other: Partial<NoticedGap> = {}): NoticedGap {
  return {
    source: 'listings:comments',
    reason: 'overflow',
    afterThing: `t1_${after}`,
    beforeThing: `t1_${before}`,
    afterAt: 1_700_000_000_123 + after * SECOND,
    beforeAt: 1_700_000_000_123 + before * SECOND,
    ageMs: 0,
    ...other,
  };
}

const boundsOf = (gaps: readonly { afterThing: string | undefined; beforeThing: string | undefined }[]) =>
  gaps.map(({ afterThing, beforeThing }) => [afterThing, beforeThing]);

test('a new gap of skipped ids closes those that lie within it, and no others', async () => {
  const ids = (from: string, to: string, other: Partial<NoticedGap> = {}) =>
    gap(1, 5, { source: 'post-ids', reason: 'skipped', afterThing: `t3_${from}`, beforeThing: `t3_${to}`, ...other });
  const earlier = ids('zz', '300', { afterAt: 500 });
  await openGaps(db.pool, [ids('zz', '200'), ids('yy', '150'), earlier, ids('zz', '200', { source: 'comment-ids' })]);
  await openGaps(db.pool, [ids('zz', '9zz', { reason: 'stretch_given_up' })]);
  expect(await readOpenGaps(db.pool, { limit: 10 })).toHaveLength(5);
  await openGaps(db.pool, [ids('zz', '400')]);
  const open = boundsOf(await readOpenGaps(db.pool, { limit: 10, sourcePrefix: 'post-ids' }));
  expect(open).toHaveLength(4);
  expect(open).not.toContainEqual(['t3_zz', 't3_200']);
});

test.each([
  { what: 'begins where the last one ends', next: gap(5, 9), bounds: [['t1_1', 't1_9']] },
  {
    what: 'begins where the last one ends, without dates',
    next: gap(5, 9, { afterAt: undefined, beforeAt: undefined }),
    bounds: [['t1_1', 't1_9']],
  },
  { what: 'overlaps it above', next: gap(4, 9), bounds: [['t1_1', 't1_9']] },
  { what: 'overlaps it below', next: gap(0, 2), bounds: [['t1_0', 't1_5']] },
  { what: 'lies within it', next: gap(2, 3), bounds: [['t1_1', 't1_5']] },
  { what: 'is the same, because the answer was lost', next: gap(1, 5), bounds: [['t1_1', 't1_5']] },
])('a gap that $what extends its row', async ({ next, bounds }) => {
  await openGaps(db.pool, [gap(1, 5)]);
  await db.freeze('50 seconds');
  await openGaps(db.pool, [next]);
  expect(boundsOf(await readOpenGaps(db.pool, { limit: 10 }))).toEqual(bounds);
});

test.each([
  { what: 'is apart', next: gap(6, 9), later: '1 second' },
  { what: 'has another reason', next: gap(5, 9, { reason: 'blocked' }), later: '1 second' },
  { what: 'is of another source', next: gap(5, 9, { source: 'listings:new' }), later: '1 second' },
  { what: 'was noticed over a minute later', next: gap(5, 9), later: '61 seconds' },
])('a gap that $what gets its own row', async ({ next, later }) => {
  await openGaps(db.pool, [gap(1, 5)]);
  await db.freeze(later);
  await openGaps(db.pool, [next]);
  expect(await readOpenGaps(db.pool, { limit: 10 })).toHaveLength(2);
});

test.each([
  { what: 'of other communities gets those of both', last: ['a', 'b'], next: ['b', 'c'], both: ['a', 'b', 'c'] },
  { what: 'of any community has no names', last: ['a'], next: undefined, both: undefined },
  { what: 'that had any community keeps any', last: undefined, next: ['a'], both: undefined },
  {
    what: 'of very many communities counts as one of any',
    last: Array.from({ length: 300 }, (_, n) => `x${n}`),
    next: Array.from({ length: 300 }, (_, n) => `y${n}`),
    both: undefined,
  },
])('a row that is extended by a gap $what', async ({ last, next, both }) => {
  const source = 'listings:groups:1';
  await openGaps(db.pool, [gap(1, 5, { source, communities: last })]);
  expect((await readOpenGaps(db.pool, { limit: 10 })).map(({ communities }) => communities)).toEqual([last]);
  await openGaps(db.pool, [gap(4, 9, { source, communities: next })]);
  const gaps = await readOpenGaps(db.pool, { limit: 10 });
  expect(gaps.map(({ communities }) => communities && [...communities].sort())).toEqual([both]);
});

test('gaps are read and given up by the beginning of their source, and those of others stay', async () => {
  await openGaps(db.pool, [gap(1, 2), gap(6, 9, { source: 'post-ids' })]);
  expect(boundsOf(await readOpenGaps(db.pool, { limit: 1, sourcePrefix: 'listings:' }))).toEqual([['t1_1', 't1_2']]);
  const before = (await now()) - 1;
  await giveUpGaps(db.pool, { openedBefore: before, sourcePrefix: 'listings:' });
  expect(await readOpenGaps(db.pool, { limit: 10 })).toHaveLength(2);
  await giveUpGaps(db.pool, { openedBefore: before + 2, sourcePrefix: 'listings:' });
  expect(boundsOf(await readOpenGaps(db.pool, { limit: 10 }))).toEqual([['t1_6', 't1_9']]);
  const closed = await listGaps(db.pool, { from: 0, to: before + 10, limit: 10 });
  expect(closed.map(({ outcome }) => outcome)).toEqual(expect.arrayContaining([undefined, 'given_up']));
});

test('a closed gap is not extended', async () => {
  await openGaps(db.pool, [gap(1, 5)]);
  await closeGap(db.pool, 1, { found: 3, outcome: 'filled' });
  await openGaps(db.pool, [gap(5, 9)]);
  expect(boundsOf(await readOpenGaps(db.pool, { limit: 10 }))).toEqual([['t1_5', 't1_9']]);
});

test('a gap is closed once, with what was found', async () => {
  await openGaps(db.pool, [gap(1, 5)]);
  await noteGapFound(db.pool, 1, 4);
  await noteGapFound(db.pool, 1, 2);
  expect((await readOpenGaps(db.pool, { limit: 10 }))[0]!.found).toBe(4);
  await db.freeze('1 minute');
  expect(await closeGap(db.pool, 1, { found: 6, outcome: 'filled' })).toBe(true);
  expect(await closeGap(db.pool, 1, { found: 9, outcome: 'given_up' })).toBe(false);
  const closedAt = await now();
  const listed = await listGaps(db.pool, { from: closedAt - MINUTE, to: closedAt, limit: 10 });
  expect(listed).toMatchObject([{ id: 1, found: 6, outcome: 'filled', closedAt, openedAt: closedAt - MINUTE }]);
  expect(await readOpenGaps(db.pool, { limit: 10 })).toEqual([]);
});

test('a gap that was extended while it was worked on stays open', async () => {
  await openGaps(db.pool, [gap(1, 5)]);
  const [worked] = await readOpenGaps(db.pool, { limit: 1 });
  await openGaps(db.pool, [gap(5, 9)]);
  expect(await closeGap(db.pool, worked!.id, { found: 1, outcome: 'filled', upTo: worked! })).toBe(false);
  const [extended] = await readOpenGaps(db.pool, { limit: 1 });
  expect(await closeGap(db.pool, extended!.id, { found: 1, outcome: 'filled', upTo: extended! })).toBe(true);
});

test('items that no matcher read are a gap that nothing fills, however often they are noted', async () => {
  const at = await now();
  const lost = { group: 'matcher', topic: 'forum.posts', partition: 1, from: 10n, to: 25n };
  const times = { afterMs: at - 80 * 60 * MINUTE, beforeMs: at - 72 * 60 * MINUTE };
  await noteLostRecords(db.pool, lost, times);
  await noteLostRecords(db.pool, { ...lost, to: 30n }, times);
  await noteLostRecords(db.pool, { ...lost, group: 'recorder', topic: 'monitor.candidates', from: 7n, to: 7n });
  expect(await listGaps(db.pool, { from: at - MINUTE, to: at + MINUTE, limit: 10 })).toMatchObject([
    { source: 'matcher', reason: 'expired', outcome: 'given_up', afterAt: times.afterMs, beforeAt: times.beforeMs },
  ]);
  const counts = await countLostRecords(db.pool);
  expect(new Map(counts.map(({ group, topic, records }) => [`${group} ${topic}`, records]))).toEqual(
    new Map([
      ['matcher forum.posts', 20],
      ['recorder monitor.candidates', 1],
    ]),
  );
  await db.freeze('25 hours');
  expect(await countLostRecords(db.pool)).toEqual([]);
});
