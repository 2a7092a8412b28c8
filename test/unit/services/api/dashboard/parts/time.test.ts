import { expect, test } from 'vitest';
import { ago, durationInWords, time } from '../../../../../../services/api/dashboard/parts/time.ts';

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3_599, '59 min'],
  [3_600, '1 h'],
  [172_799, '47 h'],
  [172_800, '2 days'],
])('%d s are %s', (seconds, words) => expect(durationInWords(seconds)).toBe(words));

test('times hold the exact moment for programs', () => {
  const at = '2026-03-04T05:06:07.089Z';
  expect(String(time(at))).toBe(`<time datetime="${at}">2026-03-04 05:06 UTC</time>`);
  expect(String(ago(at, Date.parse(at) + 90_000))).toBe(`<time datetime="${at}">1 min ago</time>`);
  // A clock that is ahead of ours does not make a time of the future.
  expect(String(ago(at, Date.parse(at) - 5_000))).toContain('0 s ago');
});
