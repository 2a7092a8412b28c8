import { describe, expect, test } from 'vitest';
import { EndpointSlots, endpointOf } from '../../../../services/deliverer/endpoint-slots.ts';

describe('EndpointSlots', () => {
  test('distinguishes schemes, hosts and ports, not paths', () => {
    const origins = ['https://a/', 'http://a/', 'https://a:444/', 'https://b/', 'https://a/x?y'].map(
      (url) => endpointOf(url).origin,
    );
    expect(new Set(origins).size).toBe(4);
  });

  test('passes over waiting monitors whose URL has no free slot or that no longer want one', () => {
    const slots = new EndpointSlots(1, 2);
    const [one, two] = [endpointOf('https://a/1'), endpointOf('https://a/2')];
    expect([slots.take(one, 4), slots.take(two, 4)]).toEqual([1, 1]);
    slots.waitFor(one, 'waits for one');
    slots.waitFor(two, 'gone');
    slots.waitFor(two, 'waits for two');
    expect(slots.release(two, 1, (id) => id !== 'gone')).toEqual(['waits for two']);
    expect(slots.take(two, 1)).toBe(1);
    expect(slots.release(one, 1, () => true)).toEqual(['waits for one']);
  });
});
