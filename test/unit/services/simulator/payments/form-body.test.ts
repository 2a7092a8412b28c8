import { expect, test } from 'vitest';
import { nestedForm, textAt, textsAt } from '../../../../../services/simulator/payments/form-body.ts';

const read = (text: string) => nestedForm(new URLSearchParams(text));

test('nested names become members', () => {
  const form = read('mode=payment&line_items[0][price_data][unit_amount]=900&metadata[a]=1&metadata[b]=2');
  expect(textAt(form, 'mode')).toBe('payment');
  expect(textAt(form, 'line_items', '0', 'price_data', 'unit_amount')).toBe('900');
  expect(textsAt(form, 'metadata')).toEqual({ a: '1', b: '2' });
  expect(textAt(form, 'line_items', '0')).toBeUndefined();
  expect(textAt(form, 'mode', 'x')).toBeUndefined();
  expect(textsAt(form, 'absent')).toEqual({});
});

test('contradicting and hostile names change nothing else', () => {
  const form = read('a=1&a[b]=2&b[c]=3&b=4&__proto__[polluted]=yes&constructor[prototype][polluted]=yes&[]=x&c[=y');
  expect(textAt(form, 'a')).toBe('1');
  expect(textAt(form, 'b', 'c')).toBe('3');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
