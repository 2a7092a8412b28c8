import { expect, test } from 'vitest';
import { firstHead, idToNumber, numberToId, supportedHead } from '../../../../../services/crawler/post-ids/post-id.ts';

const id = (n: number) => numberToId(BigInt(n));

test('counts in base 36 beyond 2^53', () => {
  expect(numberToId(idToNumber('zzzzzzzzzzzzy') + 1n)).toBe('zzzzzzzzzzzzz');
  expect(idToNumber('1r00000')).toBe(BigInt(parseInt('1r00000', 36)));
});

test('takes the newest id with three others within 10,000 below it as the supported head', () => {
  expect(supportedHead([id(3), id(90_000), id(20_000), id(19_000), id(18_000), id(10_000)])).toBe(20_000n);
  expect(supportedHead([id(20_001), id(19_000), id(18_000), id(10_000)])).toBeUndefined();
});

test('falls back to the middle of a page without a supported head', () => {
  expect(firstHead([id(40), id(4_000_000), id(90_000)])).toBe(id(90_000));
});
