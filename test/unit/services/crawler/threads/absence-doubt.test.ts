import { expect, test } from 'vitest';
import { AbsenceDoubt } from '../../../../../services/crawler/threads/absence-doubt.ts';

const MINUTE = 60_000;
const POSTS = Array.from({ length: 100 }, (_, n) => `p${n}`);

/** Whether an answer is believed that shows only the first `shown` of the posts. */
function believes(doubt: AbsenceDoubt, now: number, shown: number, asked: readonly string[] = POSTS): boolean {
  const first = new Set(asked.slice(0, shown));
  return doubt.doubted(asked, (postId) => first.has(postId), now).length === 0;
}

test('believes answers that leave out at most half of the posts, and answers to small calls', () => {
  const doubt = new AbsenceDoubt();
  expect(believes(doubt, 0, 50)).toBe(true);
  expect(believes(doubt, 0, 49)).toBe(false);
  expect(believes(doubt, 0, 0, POSTS.slice(0, 9))).toBe(true);
  expect(believes(doubt, 0, 0, POSTS.slice(0, 10))).toBe(false);
});

test('believes that most posts are gone once they have been left out for ten minutes, whatever others do', () => {
  const doubt = new AbsenceDoubt();
  expect(believes(doubt, 0, 0)).toBe(false);
  expect(believes(doubt, MINUTE, 2, ['q', 'r'])).toBe(true);
  expect(believes(doubt, 10 * MINUTE - 1, 0)).toBe(false);
  expect(believes(doubt, 10 * MINUTE, 0)).toBe(true);
  const others = POSTS.map((postId) => `other ${postId}`);
  expect(believes(doubt, 10 * MINUTE, 0, others)).toBe(false);
});

test('doubts posts anew that were shown again', () => {
  const doubt = new AbsenceDoubt();
  expect(believes(doubt, 0, 0)).toBe(false);
  expect(believes(doubt, MINUTE, 100)).toBe(true);
  expect(believes(doubt, 11 * MINUTE, 0)).toBe(false);
});

test('doubts for no longer than ten minutes when the clock is set back', () => {
  const doubt = new AbsenceDoubt();
  expect(believes(doubt, 100 * MINUTE, 0)).toBe(false);
  expect(believes(doubt, 0, 0)).toBe(false);
  expect(believes(doubt, 10 * MINUTE, 0)).toBe(true);
});
