import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { matchPage } from '../../../schemas/messages/monitor-match.ts';
import type { MatchPage } from '../../../schemas/messages/monitor-match.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

/** Adds matches first..last with one statement per table, as the recorder's transaction leaves them. */
async function addMatches(monitorId: string, first: number, last: number): Promise<void> {
  await db.pool.query(
    `WITH thing AS (SELECT seq, 't1_' || right($1, 6) || lpad(seq::text, 6, '0') AS id FROM generate_series($2::int, $3::int) AS seq),
     item AS (
       INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
       SELECT id, 'comment', 'abc', 'rust', 'ada', 'A title', 'body ' || seq, 'https://forum.example/' || seq, false,
              '2026-01-02T03:04:05Z', service_now() + interval '33 days'
       FROM thing
     ), counted AS (
       UPDATE monitor_counters SET last_seq = $3 WHERE monitor_id = $1
     )
     INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
                          first_delivery, delivery_status)
     SELECT $1, seq, id, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'none', 'none' FROM thing`,
    [monitorId, first, last],
  );
}

async function page(id: string, query = ''): Promise<MatchPage> {
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches${query}`);
  expect(reply.status).toBe(200);
  return matchPage.parse(reply.body);
}

const seqs = ({ items }: MatchPage) => items.map(({ id }) => Number(id.slice(-12)));

test('a match has every field of the resource', async () => {
  const { id } = await api.monitor(owner.apiKey);
  await addMatches(id, 1, 1);
  await db.pool.query(
    `UPDATE matches SET delivery_status = 'delivered', delivered_at = '2026-02-03T04:05:06.789Z' WHERE monitor_id = $1`,
    [id],
  );
  const { items } = await page(id);
  expect(items).toEqual([
    {
      id: matchId(id, 1),
      monitor_id: id,
      thing_id: expect.stringMatching(/^t1_/) as string,
      kind: 'comment',
      subreddit: 'rust',
      author: 'ada',
      title: 'A title',
      body: 'body 1',
      permalink: 'https://forum.example/1',
      post_id: 'abc',
      created_utc: '2026-01-02T03:04:05.000Z',
      matched_terms: ['rust'],
      suppressed: false,
      delivery_status: 'delivered',
      created_at: expect.any(String) as string,
      delivered_at: '2026-02-03T04:05:06.789Z',
    },
  ]);
});

test('without matches a page is empty and has no cursors, in both orders', async () => {
  const { id } = await api.monitor(owner.apiKey);
  for (const order of ['oldest', 'newest']) {
    expect(await page(id, `?order=${order}`)).toEqual({ items: [], after: null, before: null });
  }
});

test('oldest first: `after` is set only while there are more; a client continues from its last match', async () => {
  const { id } = await api.monitor(owner.apiKey);
  await addMatches(id, 1, 5);
  const first = await page(id, '?limit=2');
  expect([seqs(first), first.after, first.before]).toEqual([[1, 2], matchId(id, 2), null]);
  const second = await page(id, `?limit=2&after=${first.after!}`);
  expect([seqs(second), second.after]).toEqual([[3, 4], matchId(id, 4)]);
  const last = await page(id, `?limit=2&after=${second.after!}`);
  expect([seqs(last), last.after]).toEqual([[5], null]);
  const exact = await page(id, `?limit=3&after=${matchId(id, 2)}`);
  expect([seqs(exact), exact.after]).toEqual([[3, 4, 5], null]);
  expect(seqs(await page(id, `?after=${matchId(id, 5)}`))).toEqual([]);
  await addMatches(id, 6, 6);
  expect(seqs(await page(id, `?after=${matchId(id, 5)}`))).toEqual([6]);
});

test('newest first: `before` leads to the next, older page, and is null on the last', async () => {
  const { id } = await api.monitor(owner.apiKey);
  await addMatches(id, 1, 5);
  const first = await page(id, '?order=newest&limit=3');
  expect([seqs(first), first.after, first.before]).toEqual([[5, 4, 3], null, matchId(id, 3)]);
  const last = await page(id, `?order=newest&limit=3&before=${first.before!}`);
  expect([seqs(last), last.before]).toEqual([[2, 1], null]);
});

test('a page has 100 matches by default and 200 at most', async () => {
  const { id } = await api.monitor(owner.apiKey);
  await addMatches(id, 1, 250);
  expect((await page(id)).items).toHaveLength(100);
  expect((await page(id, '?limit=200')).items).toHaveLength(200);
});

test('a page of long matches is written match by match, as any other answer', async () => {
  const { id } = await api.monitor(owner.apiKey);
  await recordMatches(db.pool, id, 20, 40_000);
  const stringify = vi.spyOn(JSON, 'stringify');
  const { status, headers, text } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches`);
  const longest = Math.max(...stringify.mock.results.map(({ value }) => String(value).length));
  stringify.mockRestore();
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(matchPage.parse(JSON.parse(text)).items).toHaveLength(20);
  expect(text).toBe(JSON.stringify(JSON.parse(text)));
  expect(longest).toBeLessThan(100_000);
});

test('a cursor older than the retention starts at the oldest match kept', async () => {
  const { id } = await api.monitor(owner.apiKey);
  await addMatches(id, 1, 6);
  await db.pool.query('DELETE FROM matches WHERE monitor_id = $1 AND seq <= 3', [id]);
  expect(seqs(await page(id, `?after=${matchId(id, 1)}`))).toEqual([4, 5, 6]);
  expect(seqs(await page(id, `?order=newest&before=${matchId(id, 2)}`))).toEqual([]);
});

test('what is read of a monitor can be written again', async () => {
  const { id } = await api.monitor(owner.apiKey, { include_posts: false });
  const path = `/v1/monitors/${id}`;
  const { body } = await api.call(owner.apiKey, 'GET', path);
  expect(body.monitor).toMatchObject({ include_posts: false, include_comments: true });
  const { include_posts, include_comments } = body.monitor as Record<string, unknown>;
  const changed = await api.call(owner.apiKey, 'PATCH', path, { include_posts: !include_posts, include_comments });
  expect(changed.body.monitor).toMatchObject({ include_posts: true, include_comments: true });
  const differing = await api.call(owner.apiKey, 'PATCH', path, { comments: true, include_comments: false });
  expect([differing.status, differing.body.error]).toMatchObject([
    400,
    { message: 'include_comments: must equal comments, which means the same; send one of them' },
  ]);
});

test.each([
  ['oldest', 'after'],
  ['newest', 'before'],
])('order=%s: a cursor beyond the last match is refused, as on the stream', async (order, field) => {
  const { id } = await api.monitor(owner.apiKey);
  const at = (seq: number) =>
    api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches?order=${order}&${field}=${matchId(id, seq)}`);
  expect((await at(1)).status).toBe(400);
  await addMatches(id, 1, 3);
  expect((await at(3)).status).toBe(200);
  const beyond = await at(4);
  expect([beyond.status, beyond.body.error]).toMatchObject([
    400,
    { code: 'invalid_request', message: `${field}: must be the id of a match that was recorded` },
  ]);
});

test("a paused monitor's matches can still be read", async () => {
  const { id } = await api.monitor(owner.apiKey);
  await addMatches(id, 1, 2);
  await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/pause`);
  expect(seqs(await page(id))).toEqual([1, 2]);
});

test('a client that polls continuously gets every match once while matches arrive', async () => {
  const { id } = await api.monitor(owner.apiKey);
  const total = 600;
  const writing = (async () => {
    for (let seq = 1; seq <= total; seq += 3) await addMatches(id, seq, seq + 2);
  })();
  const seen: number[] = [];
  while (seen.length < total) {
    const cursor = seen.length > 0 ? `&after=${matchId(id, seen.at(-1)!)}` : '';
    seen.push(...seqs(await page(id, `?limit=7${cursor}`)));
  }
  await writing;
  expect(seen).toEqual(Array.from({ length: total }, (_, at) => at + 1));
});
