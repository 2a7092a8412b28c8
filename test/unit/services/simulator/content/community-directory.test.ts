import { expect, test } from 'vitest';
import { COMMUNITIES, weightOf } from '../../../../../services/simulator/content/communities.ts';
import { CommunityDirectory } from '../../../../../services/simulator/content/community-directory.ts';

const POSTS = 100_000;

function postsByCommunity(directory: CommunityDirectory): Map<string, number> {
  const counts = new Map<string, number>();
  for (let post = 0; post < POSTS; post++) {
    const { name } = directory.ofPost(post);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

test('without generated communities posts go to the written ones by weight', () => {
  const counts = postsByCommunity(new CommunityDirectory(1));
  for (const community of COMMUNITIES) {
    expect((counts.get(community.name) ?? 0) / POSTS).toBeCloseTo(weightOf(community), 2);
  }
});

test('posts of generated communities follow the law of Zipf with exponent 1.1', () => {
  const directory = new CommunityDirectory(1, 5000);
  const counts = postsByCommunity(directory);
  const ofRank = (rank: number): number => counts.get(nameOfRank(directory, rank)) ?? 0;
  for (const rank of [1, 3, 9]) expect(ofRank(0) / ofRank(rank)).toBeCloseTo((rank + 1) ** 1.1, -0.5);
  const written = COMMUNITIES.reduce((sum, { name }) => sum + (counts.get(name) ?? 0), 0);
  expect(written / POSTS).toBeCloseTo(0.2, 2);
});

function nameOfRank(directory: CommunityDirectory, rank: number): string {
  return directory.listed()[COMMUNITIES.length + rank]!.name;
}

test('a generated community is found by its name in any case and by its id, and no other name is found', () => {
  const directory = new CommunityDirectory(7, 40_000);
  const community = directory.ofPost(
    Array.from({ length: 100 }, (_, post) => post).find((post) => directory.ofPost(post).weight === 0)!,
  );
  expect(directory.named(community.name.toUpperCase())).toBe(community);
  expect(directory.withId(community.id)).toBe(community);
  expect(directory.named('code_zzzzz')).toBeUndefined();
  expect(directory.named('nothing')).toBeUndefined();
  expect(directory.withId('zzzzzz')).toBeUndefined();
  expect(directory.named('rust')).toBe(COMMUNITIES.find(({ name }) => name === 'rust'));
});

test.each([0, 5000])('opted out communities have the given share of posts, with %i generated ones', (generated) => {
  const directory = new CommunityDirectory(3, generated);
  const optedOut = directory.optedOut(0.05);
  let posts = 0;
  for (let post = 0; post < POSTS; post++) if (optedOut.has(directory.ofPost(post).id)) posts++;
  expect(posts / POSTS).toBeGreaterThan(0.04);
  expect(posts / POSTS).toBeLessThan(0.055);
});
