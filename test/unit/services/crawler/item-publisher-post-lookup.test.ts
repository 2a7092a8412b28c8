import { describe, expect, test } from 'vitest';
import { PostLookup } from '../../../../services/crawler/item-publisher.ts';
import { RecentPosts } from '../../../../services/crawler/seen-items.ts';
import type { CommentData } from '../../../../shared/forum-client/parse-things.ts';
import { commentData } from '../../../../shared/forum-client/parse-things.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

/** Answers /api/info from these items; the first `failures` calls fail. */
class Info {
  readonly asked: string[][] = [];
  private readonly children: { kind: string; data: object }[];
  private failures: number;
  private readonly failure: UpstreamError;

  constructor(
    children: { kind: string; data: object }[],
    failures = 0,
    failure = new UpstreamError('timeout', 'slow'),
  ) {
    this.children = children;
    this.failures = failures;
    this.failure = failure;
  }

  async get(_: string, params: Record<string, string>): Promise<unknown> {
    const ids = params.id?.split(',') ?? [];
    this.asked.push(ids);
    if (this.failures-- > 0) throw this.failure;
    const children = this.children.filter(({ data }) => 'name' in data && ids.includes(String(data.name)));
    return { kind: 'Listing', data: { after: null, children } };
  }

  lookup(posts = new RecentPosts(10)): PostLookup {
    const upstream = { get: this.get.bind(this), perSecond: () => 1, stop: () => Promise.resolve() };
    return new PostLookup(upstream, posts, silentLogger());
  }
}

function comment(id: string, postId: string): CommentData {
  const home = { subreddit: 'tea', subreddit_id: 't5_tea' };
  const link = { link_id: `t3_${postId}`, parent_id: `t3_${postId}` };
  return commentData.parse({ id, author: 'a', created_utc: 1, body: '', score: 1, ...home, ...link });
}
const POST = {
  kind: 't3',
  data: {
    name: 't3_p1',
    id: 'p1',
    author: 'a',
    subreddit: 'tea',
    created_utc: 1,
    title: 'Kettles',
    selftext: '',
    over_18: false,
    permalink: '/r/tea/comments/p1/kettles/',
    score: 1,
  },
};
const COMMUNITY = { kind: 't5', data: { name: 't5_tea', over18: false } };
const signal = new AbortController().signal;

describe('PostLookup.find', () => {
  test('waits for our own budget, which does not count as an attempt', async () => {
    const refusal = new UpstreamError('busy', 'used up', { reason: 'own_budget', retryAfterMs: 1 });
    const info = new Info([POST], 5, refusal);
    const found = await info.lookup().find([comment('c1', 'p1')], signal);
    expect(found.get('p1')).toEqual({ title: 'Kettles', nsfw: false });
    expect(info.asked).toHaveLength(6);
  });

  test('requests a post once for all its comments, and remembers it', async () => {
    const info = new Info([POST]);
    const posts = new RecentPosts(10);
    const found = await info.lookup(posts).find([comment('c1', 'p1'), comment('c2', 'p1')], signal);
    expect(found.get('p1')).toEqual({ title: 'Kettles', nsfw: false });
    expect(info.asked).toEqual([['t3_p1']]);
    expect(posts.get('p1')?.title).toBe('Kettles');
  });

  test("returns an empty title and the community's NSFW flag for a deleted post", async () => {
    const info = new Info([COMMUNITY]);
    const found = await info.lookup().find([comment('c1', 'gone')], signal);
    expect(found.get('gone')).toEqual({ title: '', nsfw: false });
    expect(info.asked).toEqual([['t3_gone'], ['t3_gone', 't5_tea']]);
  });

  test('returns nothing for a post if neither it nor its community can be fetched', async () => {
    const found = await new Info([], 2).lookup().find([comment('c1', 'gone')], signal);
    expect(found.size).toBe(0);
  });
});
