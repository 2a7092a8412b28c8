import { expect, test } from 'vitest';
import { hasRoute, wasRefusedOnTheWay } from '../../../../shared/http/has-route.ts';

const to = (address: string, code: string) => Object.assign(new Error(`connect ${code}`), { code, address });
const refused = (error: unknown, ...routed: string[]) =>
  wasRefusedOnTheWay(error, async (address) => routed.includes(address));

test('loopback has a route; an address that cannot be connected to has none', async () => {
  expect(await hasRoute('127.0.0.1')).toBe(true);
  expect(await hasRoute('255.255.255.255')).toBe(false);
});

test.each(['ENETUNREACH', 'EACCES'])('%s comes from a router when this machine has a route', async (code) => {
  const error = to('192.0.2.1', code);
  expect(await refused(error, '192.0.2.1')).toBe(true);
  expect(await refused(error)).toBe(false);
  expect(await refused(new Error('no socket', { cause: error }), '192.0.2.1')).toBe(true);
});

test('one of several addresses that a router refused is enough', async () => {
  const both = new AggregateError([to('2001:db8::1', 'ENETUNREACH'), to('192.0.2.1', 'ENETUNREACH')]);
  expect(await refused(both, '192.0.2.1')).toBe(true);
  expect(await refused(both, '2001:db8::1')).toBe(true);
  expect(await refused(both)).toBe(false);
});

test('other faults of this side stay its own', async () => {
  for (const code of ['EMFILE', 'EPERM', 'EADDRNOTAVAIL', 'ENETDOWN']) {
    expect(await refused(to('192.0.2.1', code), '192.0.2.1')).toBe(false);
  }
  expect(await refused(Object.assign(new Error('no address'), { code: 'ENETUNREACH' }), '192.0.2.1')).toBe(false);
  expect(await refused(undefined)).toBe(false);
});
