import { expect, test } from 'vitest';
import { SeenThings } from '../../../../services/crawler/seen-things.ts';

test('is bounded and always contains the latest half of its capacity', () => {
  const seen = new SeenThings(100);
  for (let n = 0; n < 1000; n++) seen.add(`t1_${n.toString(36)}`);
  expect(seen.size).toBeLessThanOrEqual(100);
  for (let n = 950; n < 1000; n++) expect(seen.has(`t1_${n.toString(36)}`)).toBe(true);
  expect(seen.has('t1_0')).toBe(false);
});

test('tells every name from every other, whatever its form', () => {
  const ids = ['0', '00', 'a', 'A', '0a', '1', '10', 'zzzzzzzzzz', 'zzzzzzzzzy', '1zzzzzzzzz', 'zzzzzzzzzzz'];
  const names = ids.flatMap((id) => [`t1_${id}`, `t3_${id}`]);
  names.push('t1_zzzzzzzzzzzzz', 't3_ABCDEFGHIJKLM');
  for (const added of names) {
    const seen = new SeenThings(100);
    seen.add(added);
    expect(names.filter((name) => seen.has(name))).toEqual([added]);
    seen.add(added);
    expect(seen.size).toBe(1);
  }
});

test('names of an unusual form are bounded, too', () => {
  const seen = new SeenThings(1_000_000);
  for (let n = 0; n < 10_000; n++) seen.add(`t1_A${n}`);
  expect(seen.size).toBeLessThanOrEqual(2_000);
  expect(seen.has('t1_A9999')).toBe(true);
});
