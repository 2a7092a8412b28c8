import { describe, expect, test } from 'vitest';
import { muteOf } from '../../../../shared/matching/mutes.ts';
import type { MatchItem, Mute } from '../../../../shared/matching/rule.ts';

const ITEM: MatchItem = {
  kind: 'comment',
  title: '',
  text: 'rust',
  subreddit: 'Rust',
  nsfw: false,
  author: 'Some_One',
  postId: 't3_1AbC',
};

const APPLYING: Mute[] = [
  { kind: 'subreddit', value: 'r/rUST' },
  { kind: 'author', value: 'u/some_one' },
  { kind: 'thread', value: 't3_1abc' },
  { kind: 'thread', value: '1abc' },
  { kind: 'thread', value: ' T3_1ABC ' },
];
const OTHERS: Mute[] = [
  { kind: 'subreddit', value: 'some_one' },
  { kind: 'author', value: 'rust' },
  { kind: 'author', value: 'some' },
  { kind: 'thread', value: '1abcd' },
];

describe('muteOf', () => {
  test.each(APPLYING)('finds the $kind $value', (mute) => {
    expect(muteOf([...OTHERS, mute], ITEM)).toBe(mute);
  });

  test('returns the first one that applies, and none if none applies', () => {
    expect(muteOf(APPLYING, ITEM)).toBe(APPLYING[0]);
    expect(muteOf(OTHERS, ITEM)).toBeUndefined();
    expect(muteOf([], ITEM)).toBeUndefined();
  });

  test('mutes no author and no thread of an item that has none', () => {
    const { author, postId, ...anonymous } = ITEM;
    expect([author, postId]).not.toContain(undefined);
    expect(muteOf(APPLYING.slice(1), anonymous)).toBeUndefined();
  });
});
