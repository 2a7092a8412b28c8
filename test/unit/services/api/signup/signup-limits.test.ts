import { expect, test } from 'vitest';
import { networksOf } from '../../../../../services/api/signup/signup-limits.ts';

test.each([
  ['192.0.2.1', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['::ffff:c000:24d', '192.0.2.0/24'],
  ['2001:db8:1:234:3:4:5:6', '2001:db8:1:234::/64', '2001:db8:1:200::/56', '2001:db8:1::/48'],
  ['unknown', 'unknown'],
  ["x' OR 1=1", 'unknown'],
  ['192.0.2.1:5678', '192.0.2.0/24'],
  ['[2001:db8::1]:5678', '2001:db8::/64', '2001:db8::/56', '2001:db8::/48'],
  [undefined, 'unknown'],
])('%s is in the networks %s', (address, ...networks) => {
  expect(networksOf(address).map(({ network }) => network)).toEqual(networks);
});

test('a larger network gets more, but far less than all that it contains', () => {
  expect(networksOf('2001:db8::1').map(({ times }) => times)).toEqual([1, 2, 4]);
  expect(networksOf('192.0.2.1').map(({ times }) => times)).toEqual([1]);
});
