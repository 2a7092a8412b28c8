import { describe, expect, it } from 'vitest';
import { WHOLE_SITE_FORUM } from '../../../support/forum-model/forum-options.ts';
import { Forum } from '../../../support/forum-model/forum.ts';
import { IN_ALL, IN_COMMUNITY } from '../../../support/forum-model/stores.ts';
import { rateAt, steadily, WHOLE_SITE } from '../../../support/forum-model/traffic.ts';

const MINUTE = 60_000;

function run(minutes: number, options: Partial<typeof WHOLE_SITE_FORUM> = {}): Forum {
  const forum = new Forum({ ...WHOLE_SITE_FORUM, traffic: steadily(132), historyHours: 1, ...options });
  forum.advance(minutes * MINUTE);
  return forum;
}

/** The share of the visible comments that satisfy a condition. */
function share({ comments }: Forum, matches: (index: number) => boolean): number {
  let count = 0;
  for (let index = 0; index < comments.count; index++) if (matches(index)) count += 1;
  return count / comments.count;
}

describe('the traffic of the whole site', () => {
  it('has 149 items a second on average, 80 at least and 300 at most', () => {
    const rates = Array.from({ length: 1440 }, (_, minute) => rateAt(WHOLE_SITE, minute * MINUTE));
    expect(Math.min(...rates)).toBeCloseTo(80, 1);
    expect(Math.max(...rates)).toBeCloseTo(300, 1);
    expect(rates.reduce((sum, rate) => sum + rate, 0) / rates.length).toBeCloseTo(149, 0);
  });
});

describe('Forum', () => {
  it('makes the same items from the same seed, in whatever steps time passes', () => {
    const once = run(2);
    const inSteps = new Forum(once.options);
    for (let at = 0; at <= 2 * MINUTE; at += 700) inSteps.advance(at);
    inSteps.advance(2 * MINUTE);
    expect(inSteps.comments.count).toBe(once.comments.count);
    expect(inSteps.comments.post.subarray(0, once.comments.count)).toEqual(
      once.comments.post.subarray(0, once.comments.count),
    );
    expect(run(2, { seed: 2 }).comments.count).not.toBe(once.comments.count);
  });

  it('makes the shares that the options say', () => {
    const forum = run(10);
    const { comments, posts } = forum;
    const made = comments.count + forum.hidden;
    expect(made / 600).toBeCloseTo((132 * 132) / 149, -1);
    expect(forum.hidden / made).toBeCloseTo(0.004, 2);
    expect(share(forum, (index) => comments.places[index] === 0)).toBeCloseTo(0.02, 2);
    expect(share(forum, (index) => posts.community[comments.post[index]!] === 0)).toBeCloseTo(forum.shares[0]!, 2);
    // 20 % of the 57 of 117 comments a second beyond 60, and 1 % outside.
    const notInAll = share(forum, (index) => comments.places[index] === IN_COMMUNITY);
    expect(notInAll).toBeCloseTo(0.98 * ((0.2 * 57) / 117 + 0.01), 2);
    expect(share(forum, (index) => (comments.places[index]! & IN_ALL) !== 0)).toBeCloseTo(0.98 - notInAll, 2);
  });

  it('shows late items later and leaves holes in the ids of posts', () => {
    const { comments, posts, firstPost } = run(15);
    const delays: number[] = [];
    for (let index = 0; index < comments.count; index++) {
      if (comments.isLate(index)) delays.push(comments.shownAt[index]! - comments.createdAt(index));
    }
    expect(delays.length / comments.count).toBeGreaterThan(0.002);
    expect(delays.length / comments.count).toBeLessThan(0.007);
    expect(Math.max(...delays)).toBeLessThanOrEqual(601_000);
    const made = posts.shownAt.subarray(firstPost, posts.count);
    const holes = made.filter((shownAt) => shownAt === Infinity).length;
    expect(holes / made.length).toBeGreaterThan(0.01);
    expect(holes / made.length).toBeLessThan(0.03);
  });

  it('has threads with a heavy tail', () => {
    const { posts } = run(60, { communities: 2_000 });
    const sizes = posts.comments.subarray(0, posts.count).toSorted().reverse();
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const largest = sizes.subarray(0, sizes.length / 100).reduce((sum, size) => sum + size, 0);
    expect(largest / total).toBeGreaterThan(0.2);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(3);
  });
});
