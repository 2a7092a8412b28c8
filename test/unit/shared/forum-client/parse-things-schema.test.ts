import { expect, test } from 'vitest';
import { timestamp } from '../../../../schemas/messages/forum-item.ts';
import { seconds } from '../../../../shared/forum-client/parse-things.ts';

test.each([0, 1.5, '1767225600', '1767225600.25', 253_402_300_799])('accepts %s as a time', (given) => {
  const read = seconds.parse(given);
  expect(timestamp.safeParse(new Date(read * 1000).toISOString()).success).toBe(true);
});

test.each([-1, 253_402_300_800, '253402300800', 1e20, Infinity, NaN, '', 'soon', null])(
  'rejects %s as a time',
  (given) => {
    expect(seconds.safeParse(given).success).toBe(false);
  },
);
