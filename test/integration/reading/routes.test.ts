import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import * as resources from '../../../schemas/api/reading.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
let reader: TestAccount;

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  api = await startTestApi(db.pool, { forum: forum.forum });
  reader = await api.account({ credits: 10_000 });
});

afterEach(() => forum.calm());

afterAll(async () => {
  await api.stop();
  await forum.stop();
  await db.drop();
});

const get = (path: string): Promise<Reply> => api.call(reader.apiKey, 'GET', `/v1/forum/${path}`);

async function read<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> {
  const reply = await get(path);
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  expect(reply.headers.get('x-credits-used')).toBe('1');
  return schema.parse(reply.body);
}

async function refusal(path: string): Promise<[number, string, string]> {
  const reply = await get(path);
  const { error } = errorEnvelope.parse(reply.body);
  return [reply.status, error.code, error.message];
}

describe('listings', () => {
  test.each(['hot', 'new', 'top', 'rising', 'controversial'])(
    'returns the posts of a community by %s, page by page',
    async (sort) => {
      const first = await read(`subreddit?sub=r/coffee&sort=${sort}&limit=10&t=all`, resources.postListing);
      expect(first).toMatchObject({
        subreddit: 'coffee',
        query: null,
        sort,
        count: 10,
        filtered_nsfw: 0,
        degraded: false,
      });
      const next = await read(
        `subreddit?sub=coffee&sort=${sort}&limit=10&t=all&after=${first.after}`,
        resources.postListing,
      );
      const names = new Set([...first.items, ...next.items].map(({ name }) => name));
      expect(names.size).toBe(20);
    },
  );

  test('returns the comments of a community with the titles of their posts', async () => {
    const page = await read('subreddit/comments?sub=coffee&limit=100', resources.commentListing);
    expect(page.count).toBe(100);
    expect(page.items.every((item) => item.subreddit === 'Coffee' && item.post_title !== '')).toBe(true);
  });

  test('removes NSFW items unless requested, and counts them', async () => {
    const without = await read('subreddit?sub=drunkenbaking&limit=20', resources.postListing);
    expect([without.count, without.items.length]).toEqual([0, 0]);
    expect(without.filtered_nsfw).toBeGreaterThan(0);
    const all = await read('subreddit?sub=drunkenbaking&limit=20&nsfw=true', resources.postListing);
    expect([all.count, all.filtered_nsfw]).toEqual([without.filtered_nsfw, 0]);
    expect(all.after).toBe(without.after);
  });

  test('returns a community with its rules, communities, a user, and the items of a user', async () => {
    const about = await read('subreddit/about?sub=coffee', resources.subreddit);
    expect(about).toMatchObject({ name: 'Coffee', type: 'public', over_18: false });
    expect(about.rules.length).toBeGreaterThan(0);
    const popular = await read('subreddits?limit=5', resources.subredditListing);
    expect(popular).toMatchObject({ sort: 'popular', count: 5 });
    const [post] = (await read('subreddit?sub=coffee&limit=1', resources.postListing)).items;
    const user = await read(`user?name=${post!.author}`, resources.forumUser);
    expect(user).toMatchObject({ name: post!.author, suspended: false });
    const posts = await read(`user/posts?name=${post!.author}`, resources.postListing);
    expect(posts.items.every(({ author }) => author === post!.author)).toBe(true);
    const comments = await read(`user/comments?name=${post!.author}&sort=top`, resources.commentListing);
    expect(comments.items.every(({ author }) => author === post!.author)).toBe(true);
    expect(await read('user?name=suspended_sam', resources.forumUser)).toMatchObject({
      suspended: true,
      created_at: null,
    });
  });

  test('searches posts, communities and users', async () => {
    const posts = await read('search?q=coffee&limit=10&sub=coffee', resources.postListing);
    expect(posts).toMatchObject({ query: 'coffee', sort: 'relevance', subreddit: 'coffee' });
    expect(posts.items.every(({ subreddit }) => subreddit === 'Coffee')).toBe(true);
    const own = await read('search?q=title:coffee%20self:yes', resources.postListing);
    expect([own.count > 0, own.items.every(({ is_self: isSelf }) => isSelf)]).toEqual([true, true]);
    expect((await read('search?q=coffee&type=subreddit', resources.subredditListing)).count).toBeGreaterThan(0);
    await read('search?q=sam&type=user', resources.userListing);
    expect(await read('search?q=x&sub=nosuchplace', resources.postListing)).toMatchObject({ count: 0, after: null });
    expect(await read('search?q=x&sub=backroom', resources.postListing)).toMatchObject({ count: 0 });
  });
});

describe('things', () => {
  test('are returned in the requested order, with the missing ids', async () => {
    const posts = (await read('subreddit?sub=coffee&limit=3&sort=new', resources.postListing)).items;
    const comments = (await read('subreddit/comments?sub=coffee&limit=3', resources.commentListing)).items;
    const ids = [comments[2]!.name, posts[1]!.id, 't3_zzzzzzzzzzzz1', posts[0]!.permalink, comments[0]!.permalink];
    const things = await read(`things?ids=${encodeURIComponent(ids.join(','))}`, resources.thingsResponse);
    expect(things.missing).toEqual(['t3_zzzzzzzzzzzz1']);
    expect(things.items).toMatchObject([
      { kind: 'comment', comment: { name: comments[2]!.name, post_title: comments[2]!.post_title } },
      { kind: 'post', post: { name: posts[1]!.name } },
      { kind: 'post', post: { name: posts[0]!.name } },
      { kind: 'comment', comment: { name: comments[0]!.name } },
    ]);
  });

  test('include the duplicates of a post, by id, URL and share link', async () => {
    const [post] = (await read('subreddit?sub=coffee&limit=1', resources.postListing)).items;
    for (const named of [`id=${post!.id}`, `id=t3_${post!.id}`, `url=${encodeURIComponent(post!.permalink)}`]) {
      const found = await read(`post/duplicates?${named}`, resources.postListing);
      expect(found).toMatchObject({ subreddit: null, query: null });
    }
    const shared = `https://www.reddit.com/r/coffee/s/${post!.id}`;
    await read(`post/duplicates?url=${encodeURIComponent(shared)}`, resources.postListing);
  });
});

describe('refusals', () => {
  test.each([
    ['subreddit?sub=backroom', 403, 'forum_refused', 'private'],
    ['subreddit?sub=doubtfulcures', 403, 'forum_refused', 'quarantined'],
    ['subreddit/about?sub=thelounge', 403, 'forum_refused', 'paying'],
    ['subreddit?sub=nosuchplace', 404, 'not_found', 'no such community'],
    ['user?name=nobody_wrote_this', 404, 'not_found', 'no such user'],
    ['post/duplicates?id=zzzzzzzzzzzz1', 404, 'not_found', 'no such post'],
    ['subreddit?sub=a%20b', 400, 'invalid_request', 'sub: '],
    ['subreddit?sub=coffee&limit=0', 400, 'invalid_request', 'limit: '],
    ['subreddit?sub=coffee&sub=tea', 400, 'invalid_request', 'sub: '],
    [`search?q=${'x'.repeat(257)}`, 400, 'invalid_request', 'q: '],
    ['things?ids=t5_abc', 400, 'invalid_request', 'ids[0]: '],
    ['post/duplicates?id=abc&url=https://www.reddit.com/comments/abd', 400, 'invalid_request', 'id: '],
    ['post/duplicates?url=https://evil.example/comments/abc', 400, 'invalid_request', 'url: '],
  ])('%s: %i %s', async (path, status, code, message) => {
    const before = await balance();
    const [got, gotCode, gotMessage] = await refusal(path);
    expect([got, gotCode]).toEqual([status, code]);
    expect(gotMessage).toContain(message);
    expect(await balance()).toBe(before);
  });

  test.each([
    [{ kind: '429', retry_after: 7 }, 'upstream_busy'],
    [{ kind: 'html403' }, 'upstream_error'],
    [{ kind: 'truncated' }, 'upstream_error'],
    [{ kind: '5xx' }, 'upstream_error'],
  ])('%j of the forum becomes 503 %s with Retry-After and no charge', async (fault, code) => {
    const before = await balance();
    await forum.fault({ ...fault, seconds: 60 });
    const reply = await get('subreddit?sub=tea&limit=7');
    const { error } = errorEnvelope.parse(reply.body);
    expect([reply.status, error.code, error.retryable]).toEqual([503, code, true]);
    expect(reply.headers.get('retry-after')).toBe(String(error.retry_after));
    expect(await balance()).toBe(before);
  });

  test('is none for a client that has any version already: what is charged is answered', async () => {
    const headers = { 'if-none-match': '*' };
    const reply = await api.call(reader.apiKey, 'GET', '/v1/forum/subreddits?limit=2', undefined, headers);
    expect([reply.status, reply.headers.get('x-credits-used')]).toEqual([200, '1']);
    expect(reply.text.length).toBeGreaterThan(2);
  });
});

async function balance(): Promise<number> {
  const { rows } = await db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    reader.accountId,
  ]);
  return rows[0]!.balance;
}
