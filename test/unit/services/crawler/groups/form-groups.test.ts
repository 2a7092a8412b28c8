import { expect, test } from 'vitest';
import { formGroups } from '../../../../../services/crawler/groups/form-groups.ts';

test('covers most comments of the site with about four calls a second', () => {
  // 132 comments a second in communities whose rates follow Zipf's law with exponent 1.1, as on the real site.
  const weights = Array.from({ length: 100_000 }, (_, n) => (n + 1) ** -1.1);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const rates = weights.map((weight, n) => ({ subreddit: `c${n}`, comments: (132 * weight) / all, posts: 0 }));
  const { groups } = formGroups(rates, 4);
  const members = groups.flatMap((group) => group.members);
  expect(members.reduce((sum, { perSecond }) => sum + perSecond, 0) / 132).toBeGreaterThan(0.85);
  expect(formGroups(rates, 1).leftOut).toBeGreaterThan(0);
  expect(Math.max(...groups.map((group) => group.members.length))).toBe(100);
  expect(new Set(members.map(({ name }) => name)).size).toBe(members.length);
});

test('prefers communities of which no source has shown a comment, as many as their posts let expect', () => {
  const rates = [
    ...Array.from({ length: 100 }, (_, n) => ({ subreddit: `listed${n}`, comments: 0.001, posts: 0 })),
    ...Array.from({ length: 100 }, (_, n) => ({ subreddit: `unlisted${n}`, comments: 0, posts: 0.000_5 })),
  ];
  const { groups } = formGroups(rates, 0.0213);
  expect(groups).toHaveLength(1);
  expect(groups[0]?.members.every(({ name }) => name.startsWith('unlisted'))).toBe(true);
});
