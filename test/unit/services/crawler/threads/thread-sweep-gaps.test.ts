import { describe, expect, test } from 'vitest';
import { ThreadSweep } from '../../../../../services/crawler/threads/thread-sweep.ts';
import { communityKey, ReadingQueue, TrackedPosts } from '../../../../../services/crawler/threads/tracked-posts.ts';
import { SweptForum } from '../../../../support/fakes/swept-forum.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a gap', () => {
  const gap = { id: 7, afterAt: DAY, beforeAt: DAY + 5 * MINUTE, openedAt: DAY + 6 * MINUTE };

  test('is worked on until every post that may have had comments in it was checked after it, and read', () => {
    const forum = new SweptForum(0.3);
    for (let post = 0; post < 500; post++) forum.add(`p${post}`, DAY - post * MINUTE, 30);
    forum.add('later', DAY + 20 * MINUTE);
    for (let post = 0; post < 500; post += 5) forum.missed(`p${post}`, DAY + MINUTE);
    forum.sweep.setGaps([gap]);
    expect(forum.sweep.waitingForGap(7)).toBeUndefined();
    forum.run(gap.openedAt, gap.openedAt + 30 * SECOND);
    expect(forum.sweep.waitingForGap(7)).toBeGreaterThan(300);
    forum.run(gap.openedAt + 30 * SECOND, gap.openedAt + 40 * MINUTE);
    expect(forum.sweep.waitingForGap(7)).toBe(0);
    expect(forum.waits).toHaveLength(100);
    forum.sweep.setGaps([]);
    expect(forum.sweep.waitingForGap(7)).toBeUndefined();
  });

  test('gets its share of the readings although larger deficits wait, and every second one finds no budget', () => {
    const posts = new TrackedPosts();
    const queue = new ReadingQueue(posts);
    const rows = Array.from({ length: 100 }, (_, post) => posts.add({ postId: `p${post}`, createdAt: 0 }));
    for (const row of rows) posts.setDeficit(row, row < 90 ? 9 : 1);
    queue.setUnread(rows.slice(90));
    let read = 0;
    for (let attempt = 0; attempt < 60; attempt++) {
      const row = queue.take(0)!;
      if (attempt % 2 === 0) {
        queue.undoTake();
        continue;
      }
      posts.setDeficit(row, 0);
      if (row >= 90) read += 1;
    }
    expect(read).toBe(10);
  });

  test('that its source extends waits for another check of the posts that were checked before its new end', () => {
    const forum = new SweptForum(2);
    for (let post = 0; post < 50; post++) forum.add(`p${post}`, DAY - post * MINUTE);
    forum.sweep.setGaps([gap]);
    forum.run(gap.openedAt, gap.openedAt + 30 * SECOND);
    expect(forum.sweep.waitingForGap(7)).toBe(0);
    forum.sweep.setGaps([{ ...gap, beforeAt: gap.openedAt + 40 * SECOND }]);
    expect(forum.sweep.waitingForGap(7)).toBeUndefined();
    forum.run(gap.openedAt + 30 * SECOND, gap.openedAt + 36 * SECOND);
    expect(forum.sweep.waitingForGap(7)).toBe(50);
    forum.run(gap.openedAt + 36 * SECOND, gap.openedAt + 2 * MINUTE);
    expect(forum.sweep.waitingForGap(7)).toBe(0);
  });

  test('of some communities waits for their posts, and for those whose community is not known', () => {
    const sweep = new ThreadSweep();
    for (const [postId, subreddit] of [
      ['tea', 'Tea'],
      ['salt', 'salt'],
      ['any', undefined],
    ] as const) {
      sweep.add({ postId, createdAt: DAY - HOUR, comments: 0, subreddit });
    }
    sweep.setGaps([{ ...gap, communities: new Set([communityKey('tea')]) }]);
    sweep.nextCheck(gap.openedAt, 1);
    expect(sweep.waitingForGap(7)).toBe(2);
  });

  test.each([
    ['ample', 1],
    ['short', 0.001],
  ])('of an outage of 30 hours keeps quiet posts of its begin until they are checked (%s budget)', (_, calls) => {
    const sweep = new ThreadSweep();
    const now = DAY + 30 * HOUR;
    const long = { id: 9, afterAt: DAY, beforeAt: now - MINUTE, openedAt: now - MINUTE };
    for (let post = 0; post < 100; post++) sweep.add({ postId: `p${post}`, createdAt: DAY + post * SECOND });
    sweep.setGaps([long]);
    const checked = sweep.nextCheck(now, calls) ?? [];
    expect(checked).toHaveLength(100);
    expect(sweep.waitingForGap(9)).toBe(100);
    sweep.learnChecks(
      now,
      checked.map((postId) => ({ postId, comments: 0, archived: 0 })),
    );
    sweep.nextCheck(now + 2 * MINUTE, calls);
    expect(sweep.waitingForGap(9)).toBe(0);
    expect(sweep.size).toBe(0);
  });
});
