import { expect, test } from 'vitest';
import { CommunityCounts } from '../../../../services/crawler/community-counts.ts';

test('adds counts that were put back to later ones', () => {
  const counts = new CommunityCounts();
  counts.addItem('comment', 'tea');
  const taken = counts.take();
  counts.addItem('comment', 'tea');
  counts.putBack(taken);
  expect(counts.take()).toEqual([{ subreddit: 'tea', comments: 2, posts: 0 }]);
});

test('is bounded while Postgres is unavailable: known communities go on', () => {
  const counts = new CommunityCounts();
  for (let n = 0; n < 60_000; n++) counts.addItem('comment', `c${n}`);
  counts.addItem('comment', 'c7');
  const taken = counts.take();
  expect(taken).toHaveLength(50_000);
  expect(taken[7]?.comments).toBe(2);
});
