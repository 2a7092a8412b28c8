import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import { graphResponse, postResponse } from '../../../schemas/messages/forum-post.ts';
import type { Comment } from '../../../schemas/messages/forum-post.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { SITE_URL, startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
let reader: TestAccount;
/** A post with more comments than one page of the forum contains. */
let large: { id: string; permalink: string; num_comments: number };

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  api = await startTestApi(db.pool, { forum: forum.forum });
  reader = await api.account({ credits: 10_000 });
  large = await emitLargeThread();
});

/** 640 top-level comments, and chains of replies below the first of them. */
async function emitLargeThread(): Promise<typeof large> {
  const emit = async (body: object) => {
    const headers = { 'content-type': 'application/json' };
    const url = `${forum.simulator.url}/simulator/emit`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`the simulator emitted nothing: ${await response.text()}`);
    return (await response.json()) as { name: string; id: string; permalink: string };
  };
  const post = await emit({
    kind: 'post',
    title: 'A long discussion',
    text: 'What do you think?',
    subreddit: 'Coffee',
  });
  const answer = (number: number, parent = post.name) =>
    emit({ kind: 'comment', text: `Answer ${number}`, post: post.name, parent, author: `writer_${number}` });
  for (let number = 0; number < 640; number++) {
    let { name: parent } = await answer(number);
    for (let depth = 1; depth < 6 && number < 10; depth++) ({ name: parent } = await answer(1_000 + depth, parent));
  }
  return { id: post.id, permalink: `${SITE_URL}/r/Coffee/comments/${post.id}/a_long_discussion/`, num_comments: 690 };
}

// Each test starts with an expired cache.
beforeEach(() => {
  forum.simulator.clock += 3_600_000;
});

afterEach(() => forum.calm());

afterAll(async () => {
  await api.stop();
  await forum.stop();
  await db.drop();
});

async function read<S extends z.ZodType>(query: string, schema: S, key = reader.apiKey) {
  const reply = await api.call(key, 'GET', `/v1/forum/post?${query}`);
  if (reply.status !== 200) throw new Error(`${query} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  return { body: schema.parse(reply.body), headers: reply.headers };
}

const flat = (comments: readonly Comment[]): Comment[] => comments.flatMap((one) => [one, ...flat(one.replies)]);

describe('a post', () => {
  test('has a tree of its comments and their number', async () => {
    const { body, headers } = await read(`id=${large.id}&max_comments=50`, postResponse);
    const all = flat(body.post.comments);
    expect(all).toHaveLength(50);
    expect(body.meta).toMatchObject({ comments_returned: 50, max_comments: 50, has_more: true, credits_used: 1 });
    expect(body.meta.comments_total).toBe(body.post.num_comments);
    expect([headers.get('x-comments-returned'), headers.get('x-has-more')]).toEqual(['50', 'true']);
    for (const { replies, depth, id } of all) {
      for (const reply of replies) expect([reply.depth, reply.parent_id]).toEqual([depth + 1, `t1_${id}`]);
    }
    expect(body.discussion_graph.total_analyzed).toBe(50);
  });

  test('is returned without comments, with all of them, and as a graph', async () => {
    const alone = await read(`id=${large.id}&max_comments=0`, postResponse);
    expect(alone.body.post.comments).toEqual([]);
    const whole = await read(`id=${large.id}&max_comments=2000`, postResponse);
    expect(whole.body.meta.has_more).toBe(false);
    const all = flat(whole.body.post.comments);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const graph = await read(`id=${large.id}&max_comments=2000&format=graph`, graphResponse);
    expect(graph.body.discussion_graph).toEqual(whole.body.discussion_graph);
  });

  test('is found by every kind of link', async () => {
    const links = [
      `t3_${large.id}`,
      large.permalink,
      `${large.permalink}.json`,
      `https://redd.it/${large.id}`,
      `${SITE_URL}/r/coffee/s/${large.id}`,
    ];
    for (const link of links) {
      const { body } = await read(`url=${encodeURIComponent(link)}&max_comments=0`, postResponse);
      expect(body.post.id).toBe(large.id);
    }
  });

  test('is returned around a comment with its ancestors and direct replies', async () => {
    const { body } = await read(`id=${large.id}&max_comments=2000`, postResponse);
    const deep = flat(body.post.comments).find(({ depth, replies }) => depth >= 3 && replies.length > 0)!;
    const link = `${large.permalink}${deep.id}/`;
    for (const query of [`url=${encodeURIComponent(link)}&context=2`, `id=${large.id}&comment=${deep.id}&context=2`]) {
      const focused = (await read(query, postResponse)).body;
      expect(focused.meta.focus_comment_id).toBe(deep.id);
      const all = flat(focused.post.comments);
      expect(all.map(({ id }) => id)).toContain(deep.id);
      const [top] = focused.post.comments;
      const chain = [top!, top!.replies[0]!, top!.replies[0]!.replies[0]!];
      expect(chain[2]!.id).toBe(deep.id);
      expect(chain[2]!.replies.map(({ id }) => id).sort()).toEqual(deep.replies.map(({ id }) => id).sort());
    }
    const least = (await read(`id=${large.id}&comment=${deep.id}&max_comments=1`, postResponse)).body;
    expect(flat(least.post.comments).map(({ id }) => id)).toEqual([deep.id]);
    const two = (await read(`id=${large.id}&comment=${deep.id}&max_comments=2`, postResponse)).body;
    expect(flat(two.post.comments).map(({ id }) => id)).toEqual([deep.parent_id.slice(3), deep.id]);
    const none = await api.call(reader.apiKey, 'GET', `/v1/forum/post?id=${large.id}&comment=zzzzzzzzzzzz1`);
    expect([none.status, errorEnvelope.parse(none.body).error.code]).toEqual([404, 'not_found']);
  });
});

describe('the cache', () => {
  test('answers from memory, fetches only missing comments, and expires', async () => {
    const tier = async (max: number) =>
      (await read(`id=${large.id}&max_comments=${max}`, postResponse)).body.meta.cache;
    expect([await tier(100), await tier(100), await tier(50)]).toEqual(['MISS', 'L1_TINYLFU', 'L1_TINYLFU']);
    expect([await tier(1_000), await tier(1_000)]).toEqual(['PARTIAL', 'L1_TINYLFU']);
    forum.simulator.clock += 700_000;
    expect(await tier(100)).toBe('MISS');
  });

  test('is what the tier names while the missing comments cannot be fetched', async () => {
    await read(`id=${large.id}&max_comments=30`, postResponse);
    await forum.fault({ kind: '5xx', seconds: 36_000 });
    const { meta } = (await read(`id=${large.id}&max_comments=1500`, postResponse)).body;
    expect(meta).toMatchObject({ cache: 'L1_TINYLFU', has_more: true });
  });

  test('replaces the forum for an hour while it is unavailable', async () => {
    const age = async () => (await read(`id=${large.id}&max_comments=10`, postResponse)).headers.get('age');
    expect(await age()).toBe('0');
    forum.simulator.clock += 1_800_000;
    await forum.fault({ kind: '5xx', seconds: 36_000 });
    expect(await age()).toBe('1800');
    forum.simulator.clock += 1_900_000;
    const reply = await api.call(reader.apiKey, 'GET', `/v1/forum/post?id=${large.id}&max_comments=10`);
    expect([reply.status, errorEnvelope.parse(reply.body).error.code]).toEqual([503, 'upstream_error']);
  });
});

describe('credits', () => {
  test('are one up to 500 comments and one for each further hundred, and limit the comments to the balance', async () => {
    const { headers, body } = await read(`id=${large.id}&max_comments=2000`, postResponse);
    const returned = body.meta.comments_returned;
    expect(returned).toBeGreaterThan(600);
    const cost = 1 + Math.ceil((returned - 500) / 100);
    expect([body.meta.credits_used, headers.get('x-credits-used')]).toEqual([cost, String(cost)]);
    const poor = await api.account({ credits: 2 });
    const limited = await read(`id=${large.id}&max_comments=2000`, postResponse, poor.apiKey);
    expect(limited.body.meta).toMatchObject({
      comments_returned: 600,
      credits_used: 2,
      limited_by_balance: true,
      has_more: true,
    });
    expect(limited.headers.get('x-credits-remaining')).toBe('0');
    const reply = await api.call(poor.apiKey, 'GET', `/v1/forum/post?id=${large.id}`);
    expect(reply.status).toBe(402);
  });
});
