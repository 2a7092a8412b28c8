import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import { parseTimestamp } from '../../../../shared/postgres/pool.ts';

const parseAny = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;

test.each([
  ['2026-11-26 21:15:13.02+00', '2026-11-26T21:15:13.020Z'],
  ['2026-11-26 21:15:13.123999+00', '2026-11-26T21:15:13.123Z'],
  ['1969-12-31 23:59:59.999+00', '1969-12-31T23:59:59.999Z'],
  ['0099-01-01 00:00:00+00', '0099-01-01T00:00:00.000Z'],
  ['12026-11-26 21:15:13+00', '+012026-11-26T21:15:13.000Z'],
  ['0045-03-15 12:00:00+00 BC', '-000044-03-15T12:00:00.000Z'],
  ['2026-11-26 21:15:13.5+05:30', '2026-11-26T15:45:13.500Z'],
])('%s is %s', (text, iso) => {
  expect(parseTimestamp(text).toISOString()).toBe(iso);
});

test('infinity is a number, as pg reads it', () => {
  expect(parseTimestamp('infinity')).toBe(Number.POSITIVE_INFINITY);
  expect(parseTimestamp('-infinity')).toBe(Number.NEGATIVE_INFINITY);
});

test('every time in milliseconds is read as pg reads it', () => {
  const times = fc.date({
    min: new Date('1000-01-01Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(times, (time) => {
      const text = time
        .toISOString()
        .replace('T', ' ')
        .replace(/\.?0*Z$/, '+00');
      expect(parseTimestamp(text)).toEqual(time);
      expect(parseTimestamp(text)).toEqual(parseAny(text));
    }),
  );
});
