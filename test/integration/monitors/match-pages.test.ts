import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { matchPage } from '../../../schemas/messages/monitor-match.ts';
import type { MatchPage } from '../../../schemas/messages/monitor-match.ts';
import { inIndexOrder } from '../../../shared/postgres/pool.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { FILTERED_MATCHES } from '../../../shared/matches/match-pages.ts';
import { rowsRead } from '../../support/oracles/rows-read.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

const BEGIN = Date.parse('2026-03-01T00:00:00Z');
/** Matches of the large monitor: one every two minutes of 30 days. */
const LARGE = 20_000;
const SPAN_S = 30 * 86_400;
/** Matches that a page reads at most. */
const MAX_READ = 2_000;
const ORDERS = ['oldest', 'newest'] as const;

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let small: string;
let large: string;

/** Half of the matches come in pairs of the same time, as matches of one batch do. */
const timeOf = (seq: number) => new Date(BEGIN + Math.floor(seq / 2) * 60_000);
const termsOf = (seq: number) => [['rust'], ['Rust lang', 'go'], ['go']][seq % 3]!;
const communityOf = (seq: number) => (seq % 5 === 0 ? 'Metals' : 'Coffee');

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
  small = await newMonitor(60);
  large = await newMonitor();
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
                          first_delivery, delivery_status)
     SELECT $1, seq, 't1_' || right($1, 6) || lpad(seq::text, 7, '0'), 'comment', at, at, at, '{rust}', false, 'none', 'none'
     FROM generate_series(1, $2::int) AS seq,
          LATERAL (SELECT service_now() + (seq::float8 / $2 - 1) * $3::int * interval '1 second') AS recorded (at)`,
    [large, LARGE, SPAN_S],
  );
  await db.pool.query(
    `INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
     SELECT thing_id, 'comment', 'abc', 'Coffee', 'ada', 't', 'b', 'https://forum.example/', false, entered_at,
            service_now() + interval '33 days'
     FROM matches WHERE monitor_id = $1`,
    [large],
  );
  await db.pool.query('UPDATE monitor_counters SET last_seq = $2 WHERE monitor_id = $1', [large, LARGE]);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

async function newMonitor(matches = 0): Promise<string> {
  const { id } = await api.monitor(owner.apiKey);
  if (matches > 0) await addMatches(id, 1, matches);
  return id;
}

/** Adds matches first..last as the recorder's transaction leaves them. */
async function addMatches(monitorId: string, first: number, last: number): Promise<void> {
  const seqs = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  await db.pool.query(
    `WITH new AS (
       SELECT seq, 't1_' || right($1, 6) || lpad(seq::text, 6, '0') AS id, at, terms::text[], subreddit
       FROM unnest($2::int[], $3::timestamptz[], $4::text[], $5::text[]) AS n (seq, at, terms, subreddit)
     ), item AS (
       INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
       SELECT id, 'comment', 'abc', subreddit, 'ada', 'A title', 'body ' || seq, 'https://forum.example/' || seq, false, at,
              service_now() + interval '33 days'
       FROM new
     ), counted AS (
       UPDATE monitor_counters SET last_seq = $6 WHERE monitor_id = $1
     )
     INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
                          first_delivery, delivery_status)
     SELECT $1, seq, id, 'comment', at, at, at, terms, false, 'none', 'none' FROM new`,
    [
      monitorId,
      seqs,
      seqs.map(timeOf),
      seqs.map(
        (seq) =>
          `{${termsOf(seq)
            .map((term) => `"${term}"`)
            .join(',')}}`,
      ),
      seqs.map(communityOf),
      last,
    ],
  );
}

const ask = (id: string, query: Record<string, string>): Promise<Reply> =>
  api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches?${new URLSearchParams(query).toString()}`);

async function page(id: string, query: Record<string, string> = {}): Promise<MatchPage> {
  const reply = await ask(id, query);
  expect([reply.status, reply.headers.get('x-credits-used')]).toEqual([200, null]);
  return matchPage.parse(reply.body);
}

const seqOf = ({ id }: { id: string }) => Number(id.slice(-12));
const seqsOf = ({ items }: MatchPage) => items.map(seqOf);

/** All pages from the first one on. */
async function pages(id: string, query: Record<string, string>): Promise<MatchPage[]> {
  const read: MatchPage[] = [];
  const cursor = query.order === 'newest' ? 'before' : 'after';
  for (let next: string | null | undefined; next !== null; next = read.at(-1)![cursor]) {
    read.push(await page(id, next === undefined ? query : { ...query, [cursor]: next }));
  }
  return read;
}

test('a match has every field of the resource', async () => {
  const id = await newMonitor(1);
  const delivered = `UPDATE matches SET delivery_status = 'delivered', delivered_at = '2026-02-03T04:05:06.789Z' WHERE monitor_id = $1`;
  await db.pool.query(delivered, [id]);
  expect((await page(id)).items).toEqual([
    {
      id: matchId(id, 1),
      monitor_id: id,
      thing_id: expect.stringMatching(/^t1_/) as string,
      kind: 'comment',
      subreddit: 'Coffee',
      author: 'ada',
      title: 'A title',
      body: 'body 1',
      permalink: 'https://forum.example/1',
      post_id: 'abc',
      created_utc: timeOf(1).toISOString(),
      matched_terms: ['Rust lang', 'go'],
      suppressed: false,
      delivery_status: 'delivered',
      created_at: timeOf(1).toISOString(),
      delivered_at: '2026-02-03T04:05:06.789Z',
    },
  ]);
});

test.each([
  ['', 100, 100],
  ['limit=1', 1, 1],
  ['after=5', 100, 105],
  ['limit=200&after=19799', 200, 19_999],
  ['limit=200&after=19800', 200, null],
  ['after=19999', 1, null],
  ['after=20000', 0, null],
  ['order=newest', 100, 19_901],
  ['order=newest&limit=200&before=202', 200, 2],
  ['order=newest&limit=200&before=201', 200, null],
  ['order=newest&limit=4&before=6', 4, 2],
  ['order=newest&before=1', 0, null],
])('the page %s has %i matches, and a cursor only while there are more', async (query, count, cursor) => {
  const asked = Object.fromEntries(new URLSearchParams(query));
  for (const field of ['after', 'before']) if (asked[field]) asked[field] = matchId(large, Number(asked[field]));
  const { items, after, before } = await page(large, asked);
  const expected = cursor === null ? null : matchId(large, cursor);
  const isNewest = asked.order === 'newest';
  expect([items.length, after, before]).toEqual([count, isNewest ? null : expected, isNewest ? expected : null]);
});

test('a cursor of a match that is kept no longer starts at the oldest match kept; one after the last is refused', async () => {
  const id = await newMonitor();
  for (const order of ORDERS) expect(await page(id, { order })).toEqual({ items: [], after: null, before: null });
  expect((await ask(id, { after: matchId(id, 1) })).status).toBe(400);
  await addMatches(id, 1, 6);
  await db.pool.query('DELETE FROM matches WHERE monitor_id = $1 AND seq <= 3', [id]);
  expect(seqsOf(await page(id, { after: matchId(id, 1) }))).toEqual([4, 5, 6]);
  expect(seqsOf(await page(id, { order: 'newest', before: matchId(id, 2) }))).toEqual([]);
  expect(seqsOf(await page(id, { after: matchId(id, 6) }))).toEqual([]);
  await addMatches(id, 7, 7);
  expect(seqsOf(await page(id, { after: matchId(id, 6) }))).toEqual([7]);
});

const minute = (minutes: number) => new Date(BEGIN + minutes * 60_000).toISOString();
const FILTERS: [Record<string, string>, (seq: number) => boolean][] = [
  [{ since: minute(10) }, (seq) => seq >= 20],
  [{ until: minute(10) }, (seq) => seq < 20],
  [{ since: minute(10), until: minute(12) }, (seq) => seq >= 20 && seq < 24],
  [{ since: '2020-01-01T00:00:00Z', until: '2030-01-01T00:00:00Z' }, () => true],
  [{ keyword: 'rust' }, (seq) => seq % 3 === 0],
  [{ keyword: 'Rust lang' }, (seq) => seq % 3 === 1],
  [{ keyword: 'GO' }, () => false],
  [{ subreddit: 'r/mETALS' }, (seq) => seq % 5 === 0],
  [{ subreddit: 'metal' }, () => false],
  [
    { keyword: 'go', subreddit: 'Metals', since: minute(5), until: minute(25) },
    (seq) => seq % 3 !== 0 && seq % 5 === 0 && seq >= 10 && seq < 50,
  ],
];

test.each(FILTERS)('the pages of %j have each match that passes once, in both orders', async (filter, passes) => {
  const expected = Array.from({ length: 60 }, (_, at) => at + 1).filter(passes);
  for (const order of ORDERS) {
    for (const limit of ['1', '7', '200']) {
      const read = await pages(small, { ...filter, order, limit });
      expect(read.flatMap(seqsOf)).toEqual(order === 'oldest' ? expected : expected.toReversed());
      // There is a cursor only while more matches of the time may pass.
      if (limit === '200') expect(read).toHaveLength(1);
    }
  }
});

test('pages skip the numbers that a restored backup left out', async () => {
  const id = await newMonitor(3);
  await addMatches(id, 900_001, 900_003);
  const found = [1, 2, 3, 900_001, 900_002, 900_003];
  for (const order of ORDERS) {
    const read = await pages(id, { subreddit: 'coffee', order, limit: '2' });
    expect(read.flatMap(seqsOf)).toEqual(order === 'oldest' ? found : found.toReversed());
    expect(read.length).toBeLessThanOrEqual(4);
  }
});

describe.each(ORDERS)('20,000 matches of 30 days, the %s first', (order) => {
  test('pages that find nothing are empty and lead on to the end', async () => {
    const read = await pages(large, { subreddit: 'nowhere', order });
    expect(read).toHaveLength(LARGE / MAX_READ);
    expect(read.every(({ items }) => items.length === 0)).toBe(true);
    const cursors = read.map(({ after, before }) => after ?? before);
    expect(cursors[0]).toBe(matchId(large, order === 'oldest' ? MAX_READ : LARGE - MAX_READ + 1));
    expect(cursors.at(-1)).toBeNull();
  });

  test('a time is found without reading what is before it', async () => {
    const since = new Date(Date.now() - 24 * 3_600_000).toISOString();
    const [first, ...others] = await pages(large, { since, order, limit: '200', keyword: 'none' });
    expect([first!.items, others]).toEqual([[], []]);
    const { items } = await page(large, { since, limit: '200' });
    expect(Date.parse(items[0]!.created_at)).toBeGreaterThanOrEqual(Date.parse(since));
    const before = await page(large, { until: since, order: 'newest', limit: '1' });
    expect(seqOf(before.items[0]!)).toBe(seqOf(items[0]!) - 1);
  });

  test('a page reads a bounded number of rows', async () => {
    const values = [large, 10_001, 10_001 + MAX_READ, null, null, null, 'nowhere', 101];
    const explained = () => inIndexOrder(db.pool, (client) => rowsRead(client, FILTERED_MATCHES[order], values));
    const fresh = await explained();
    await db.pool.query('ANALYZE matches, matched_items');
    for (const { rows, scans } of [fresh, await explained()]) {
      expect(rows).toBeLessThanOrEqual(2 * MAX_READ);
      expect(scans.filter((scan) => !scan.includes('Index'))).toEqual([]);
    }
  });
});
