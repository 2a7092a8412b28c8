import { describe, expect, test } from 'vitest';
import {
  commentId,
  itemOfSlot,
  postId,
  slotOfComment,
  slotOfName,
  slotOfPost,
} from '../../../../../services/simulator/timeline/numbering.ts';

const FAR = 2 ** 40;

describe('simulator numbering', () => {
  test.each([1, 7, 99_991])('converts slots to numbers and back, seed %i', (seed) => {
    for (const start of [0, FAR]) {
      for (let k = start; k < start + 2000; k++) {
        const item = itemOfSlot(seed, k);
        const back = item.kind === 'post' ? slotOfPost(seed, item.number) : slotOfComment(seed, item.number);
        expect(back).toBe(k);
      }
    }
  });

  test.each(['sequential', 'random'] as const)(
    'returns distinct %s comment ids that convert back to their slot',
    (ids) => {
      const seen = new Set<string>();
      for (const start of [0, 2 ** 36]) {
        for (let number = start; number < start + 5000; number++) {
          const id = commentId(3, number, ids);
          expect(id).toMatch(/^[0-9a-z]{1,13}$/);
          expect(slotOfName(3, `t1_${id}`)).toEqual({ k: slotOfComment(3, number), ids });
          seen.add(id);
        }
      }
      expect(seen.size).toBe(10_000);
    },
  );

  test('returns random ids that exceed the precision of a double and differ from adjacent ones', () => {
    const id = commentId(1, 1000, 'random');
    expect(BigInt(parseInt(id, 36))).toBeGreaterThan(2n ** 53n);
    expect(commentId(1, 1001, 'random').slice(0, 4)).not.toBe(id.slice(0, 4));
  });

  test('numbers posts consecutively', () => {
    expect(parseInt(postId(8), 36)).toBe(parseInt(postId(7), 36) + 1);
    expect(slotOfName(5, `t3_${postId(7)}`)?.k).toBe(slotOfPost(5, 7));
  });

  test.each(['t1_', 't3_zzzzzzzzzzzzz', 't3_a', 't1_1', 't5_abc', 't1_zzzzzzzzzzzzz', 't1_-12', '', 't3_1R00000'])(
    'returns undefined for %j',
    (name) => {
      expect(slotOfName(1, name)).toBeUndefined();
    },
  );
});
