import { expect, test } from 'vitest';
import { CommentCounts } from '../../../../../services/simulator/content/comment-counts.ts';

const never = (): number => {
  throw new Error('must not be counted again');
};

test('a post from the first one on is counted as its comments come', () => {
  const counts = new CommentCounts(100);
  for (let i = 0; i < 3; i++) counts.add(100);
  counts.add(50_000);
  expect(counts.of(100, never)).toBe(3);
  expect(counts.of(101, never)).toBe(0);
  expect(counts.of(50_000, never)).toBe(1);
  expect(counts.of(9_000_000, never)).toBe(0);
});

test('an older post is counted when asked for, and again after a new comment', () => {
  const counts = new CommentCounts(100);
  expect(counts.of(7, () => 12)).toBe(12);
  expect(counts.of(7, never)).toBe(12);
  counts.add(7);
  expect(counts.of(7, () => 13)).toBe(13);
});
