import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commentListing } from '../../../schemas/api/reading.ts';
import type { CommentItem } from '../../../schemas/api/reading.ts';
import { byTime } from '../../../services/api/reading/comment-search.ts';
import type { CommentQuery } from '../../../services/api/reading/comment-search.ts';
import { insertItems } from '../../../shared/archive/archive-rows.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { recordRemovals } from '../../../shared/crawl/crawl-cursors.ts';
import { parseListing, thingToForumItem } from '../../../shared/forum-client/parse-things.ts';
import type { ArchivedComment } from '../../../shared/matches/archived-comments.ts';
import { SITE_URL, startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import type { TestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { commentItem } from '../../support/samples/forum-items.ts';

let db: TestDatabase;
let archive: TestClickhouse;
let clickhouse: ClickHouseClient;
let forum: TestForum;
let api: TestApi;
let reader: TestAccount;

beforeAll(async () => {
  [db, archive, forum] = await Promise.all([createTestDatabase(), createTestClickhouse(), startTestForum()]);
  clickhouse = createClickhouse(archive.url, 'test');
  await migrateClickhouse(clickhouse, db.pool, silentLogger());
  for (let number = 0; number < 30; number++) await emit(`The quick brown fox met the lazy dog, story ${number}.`);
  await emit('A QUICK-BROWN fox');
  await emit('quick and brown, but no f o x; only foxes');
  await emit('“Quick” café 咖啡好喝 fox');
  await emit('the secret fox of the bakers', 'drunkenbaking');
  await archiveNewest();
  api = await startTestApi(db.pool, { forum: forum.forum, clickhouse });
  reader = await api.account();
});

afterAll(async () => {
  await api.stop();
  await forum.stop();
  await clickhouse.close();
  await archive.drop();
  await db.drop();
});

async function control<T>(body: object): Promise<T> {
  const url = `${forum.simulator.url}/simulator/emit`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the simulator emitted nothing: ${await response.text()}`);
  return (await response.json()) as T;
}

async function emit(text: string, subreddit = 'Coffee'): Promise<string> {
  const post = await control<{ name: string }>({
    kind: 'post',
    title: 'A post',
    subreddit,
    over_18: subreddit === 'drunkenbaking',
  });
  return (await control<{ name: string }>({ kind: 'comment', text, post: post.name })).name;
}

/** Does the work of a crawler and the archiver for the newest comments. */
async function archiveNewest(): Promise<void> {
  const listing = parseListing(await forum.simulator.json('/r/all/comments?limit=100&raw_json=1'));
  // The archive expires rows by its own clock, not by the simulator's.
  const firstSeenAt = Date.now();
  const origin = { source: 'listings', replay: false, firstSeenAt, siteUrl: SITE_URL };
  await insertItems(
    db.pool,
    clickhouse,
    listing.things.map((thing) => thingToForumItem(thing, origin)),
  );
}

async function search(query: string) {
  const reply = await api.call(reader.apiKey, 'GET', `/v1/forum/search/comments?${query}`);
  if (reply.status !== 200) throw new Error(`${query} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  expect([reply.headers.get('x-cache-tier'), reply.headers.get('x-credits-used')]).toEqual(['MISS', '1']);
  return commentListing.parse(reply.body);
}

/** All pages, one after the other. */
async function searchAll(query: string, from: string | null = null): Promise<CommentItem[]> {
  const items: CommentItem[] = [];
  let after = from;
  do {
    const page = await search(`${query}${after === null ? '' : `&after=${after}`}`);
    expect(page.count).toBeLessThanOrEqual(12);
    items.push(...page.items);
    ({ after } = page);
  } while (after !== null);
  return items;
}

describe('comment search', () => {
  test.each(['relevance', 'new', 'top'])(
    'by %s finds every comment once over all pages while others arrive',
    async (sort) => {
      const first = await search(`q=quick%20fox&sort=${sort}`);
      expect([first.count, first.query, first.sort]).toEqual([12, 'quick fox', sort]);
      await emit(`quick fox ${sort}`);
      await archiveNewest();
      const rest = await searchAll(`q=quick%20fox&sort=${sort}`, first.after);
      const names = [...first.items, ...rest].map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(names.length).toBeGreaterThanOrEqual(32);
    },
  );

  test('finds phrases, folds text like keywords, and never matches part of a word', async () => {
    const bodies = async (q: string) => (await searchAll(`q=${encodeURIComponent(q)}`)).map(({ body }) => body);
    expect(await bodies('"quick brown" "story 7"')).toEqual(['The quick brown fox met the lazy dog, story 7.']);
    expect((await bodies('"quick brown"')).filter((body) => body.startsWith('A QUICK'))).toHaveLength(1);
    expect(await bodies('"quick brown" foxes')).toEqual([]);
    expect(await bodies('CAFÉ 咖啡')).toEqual(['“Quick” café 咖啡好喝 fox']);
    expect(await bodies('咖喝')).toEqual([]);
    expect(await bodies('cafe')).toEqual([]);
  });

  test('filters by community, time and NSFW', async () => {
    expect(await search('q=secret%20fox')).toMatchObject({ count: 0, filtered_nsfw: 1 });
    const [found] = (await search('q=secret%20fox&nsfw=true&sub=drunkenbaking')).items;
    expect(found).toMatchObject({ post_title: 'A post', body: 'the secret fox of the bakers' });
    expect((await search('q=secret%20fox&nsfw=true&sub=Coffee')).count).toBe(0);
    forum.simulator.clock += 7_200_000;
    expect((await search('q=quick%20fox&t=hour')).count).toBe(0);
    expect((await search('q=quick%20fox&t=day')).count).toBe(12);
  });

  test('by relevance refuses to continue after a comment that was removed, by time it continues', async () => {
    for (let number = 0; number < 14; number++) await emit(`hazelnut ${number}`);
    await archiveNewest();
    const { after } = await search('q=hazelnut');
    await recordRemovals(db.pool, [after!], [new Date().toISOString()]);
    await archiveNewest();
    const reply = await api.call(reader.apiKey, 'GET', `/v1/forum/search/comments?q=hazelnut&after=${after}`);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    expect(reply.body).toHaveProperty('error.message', expect.stringMatching(/^after: .*removed/));
    expect((await search(`q=hazelnut&sort=new&after=${after}`)).count).toBeGreaterThan(0);
  });
});

test('by time comes everything once, the latest created first, also what was seen late', async () => {
  const [minute, day, now] = [60_000, 86_400_000, Date.now()];
  const items = Array.from({ length: 150 }, (_, at) => {
    const created = now - at ** 2 * 2 * minute;
    // The last ones were created before anything the archive keeps; every seventh was seen an hour late.
    const seen = Math.max(created, now - 20 * day);
    const late = at % 7 === 0 ? Math.min(now, seen + 60 * minute) : seen;
    const times = { created_utc: new Date(created).toISOString(), first_seen_at: new Date(late).toISOString() };
    return { ...commentItem(1_000 + at, 'cashew'), subreddit: 'test', ...times };
  });
  await insertItems(db.pool, clickhouse, items);
  const { signal } = new AbortController();
  const deps = { clickhouse, queryArchive: <T>(read: (ending: AbortSignal) => Promise<T>) => read(signal) };
  const wanted = { terms: ['cashew'], words: ['cashew'], subreddit: undefined, since: undefined, now };
  const listed = async (...asked: [wanted: CommentQuery, after?: ArchivedComment]) => {
    const comments: ArchivedComment[] = [];
    for await (const page of byTime(deps, asked[0], asked[1])) comments.push(...page);
    return comments;
  };
  const ids = items.map(({ thing_id: id }) => id);
  const idsOf = (found: ArchivedComment[]) => found.map(({ thingId }) => thingId);
  const found = await listed(wanted);
  expect(idsOf(found)).toEqual(ids);
  expect(idsOf(await listed(wanted, found[2]))).toEqual(ids.slice(3));
  expect(idsOf(await listed({ ...wanted, since: now - 101 * minute }))).toEqual(ids.slice(0, 8));
});
