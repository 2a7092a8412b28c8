const OBJECT = 24;
const ARRAY = 32;
const SLOT = 8;
const STRING = 16;
const NUMBER = 16;

/**
 * Estimates the memory of a value made of plain objects, arrays and primitives in V8 (64 bits, no pointer compression):
 * headers, a slot per property or element, strings with one or two bytes a character. Objects of one shape share
 * property names, so names count nothing. A string that occurs several times is counted each time, so the result errs
 * on the high side.
 *
 * Visits every property and scans every text. The value must have no cycles. Other objects (maps, dates, buffers) count
 * as empty.
 */
export function estimateBytes(value: unknown): number {
  let bytes = 0;
  // An explicit stack instead of recursion, because comments may nest without limit.
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'string') bytes += stringBytes(next);
    else if (typeof next === 'number') bytes += Number.isSafeInteger(next) && Math.abs(next) < 2 ** 31 ? 0 : NUMBER;
    else if (Array.isArray(next)) {
      bytes += ARRAY + SLOT * next.length;
      for (const element of next) pending.push(element);
    } else if (typeof next === 'object' && next !== null) {
      const properties = Object.values(next) as unknown[];
      bytes += OBJECT + SLOT * properties.length;
      for (const property of properties) pending.push(property);
    }
  }
  return bytes;
}

/** One character above U+00FF makes the whole string two bytes wide. */
function stringBytes(text: string): number {
  const wide = /[\u0100-\uffff]/.test(text);
  return STRING + Math.ceil((text.length * (wide ? 2 : 1)) / 8) * 8;
}
