import { describe, expect, test } from 'vitest';
import { estimateBytes } from '../../../../shared/cache/estimate-bytes.ts';

describe('estimateBytes', () => {
  test.each([
    ['nothing', null, 0],
    ['a truth', true, 0],
    ['a small number', 7, 0],
    ['a large number', 2 ** 40, 16],
    ['a fraction', 0.5, 16],
    ['an empty text', '', 16],
    ['a Latin text', 'naïve', 24],
    ['a text with a wide character', '’'.repeat(8), 32],
    ['an object', { a: 1, b: 'x' }, 24 + 16 + 24],
    ['an array', [1, 2, 'x'], 32 + 24 + 24],
  ])('%s', (_, value, bytes) => {
    expect(estimateBytes(value)).toBe(bytes);
  });

  test('handles deeply nested comments', () => {
    let thread: unknown = null;
    for (let i = 0; i < 100_000; i += 1) thread = { replies: [thread] };
    expect(estimateBytes(thread)).toBe(100_000 * (24 + 8 + 32 + 8));
  });
});
