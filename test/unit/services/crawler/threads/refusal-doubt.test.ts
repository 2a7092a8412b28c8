import { expect, test } from 'vitest';
import { RefusalDoubt } from '../../../../../services/crawler/threads/refusal-doubt.ts';
import { UpstreamError } from '../../../../../shared/upstream/upstream-error.ts';

const refused = (reason = 'Forbidden', status = 403) => new UpstreamError('refused', 'refused', { status, reason });

test('a thread that is refused while others are read is believed to be gone the second time', () => {
  const doubt = new RefusalDoubt();
  doubt.noteRead();
  expect(doubt.isBelievable('a', refused())).toBe(false);
  doubt.noteRead();
  expect(doubt.isBelievable('a', refused())).toBe(true);
  expect(doubt.isBelievable('a', refused())).toBe(false);
});

test('refusals of everything are not believed of any thread before the twelfth time', () => {
  const doubt = new RefusalDoubt();
  const all = () => ['a', 'b', 'c'].map((postId) => doubt.isBelievable(postId, refused('unexplained')));
  expect(Array.from({ length: 11 }, all).flat()).toEqual(Array(33).fill(false));
  expect(all()).toEqual([true, true, true]);
});

test.each<[string, unknown]>([
  ['a block of our address', refused('blocked')],
  ['a refused credential', refused('Unauthorized', 401)],
  ['an outage', new UpstreamError('broken', 'broken', { status: 503 })],
  ['another error', new Error('broken')],
])('%s says nothing about the thread', (_, error) => {
  const doubt = new RefusalDoubt();
  for (let time = 0; time < 10; time++) {
    doubt.noteRead();
    expect(doubt.isBelievable('a', error)).toBe(false);
  }
});

test('remembers a thousand threads', () => {
  const doubt = new RefusalDoubt();
  for (let thread = 0; thread <= 1_000; thread++) doubt.isBelievable(`t${thread}`, refused());
  doubt.noteRead();
  expect([doubt.isBelievable('t1', refused()), doubt.isBelievable('t0', refused())]).toEqual([true, false]);
});
