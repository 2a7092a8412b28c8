const OBJECT = 24;
const ARRAY = 32;
const SLOT = 8;
const STRING = 16;
const NUMBER = 16;

/**
 * About how much memory a value made of plain objects, arrays and primitives takes in V8 (64 bits, no pointer
 * compression): headers, a slot per property or element, strings with one or two bytes a character. Names of properties
 * are shared by objects of one shape and count nothing. Strings that occur several times are counted several times, so
 * it errs on the high side.
 *
 * Costs a visit of every property and a search through every text; the value must have no cycles. Other objects (maps,
 * dates, buffers) count as empty.
 */
export function estimateBytes(value: unknown): number {
  let bytes = 0;
  // A stack of our own: comments nest as deeply as their writers like.
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === 'string') bytes += stringBytes(next);
    else if (typeof next === 'number') bytes += Number.isSafeInteger(next) && Math.abs(next) < 2 ** 31 ? 0 : NUMBER;
    else if (Array.isArray(next)) {
      bytes += ARRAY + SLOT * next.length;
      for (const element of next) rest.push(element);
    } else if (typeof next === 'object' && next !== null) {
      const properties = Object.values(next) as unknown[];
      bytes += OBJECT + SLOT * properties.length;
      for (const property of properties) rest.push(property);
    }
  }
  return bytes;
}

/** One character above U+00FF makes the whole string two bytes wide. */
function stringBytes(text: string): number {
  const wide = /[\u0100-\uffff]/.test(text);
  return STRING + Math.ceil((text.length * (wide ? 2 : 1)) / 8) * 8;
}
