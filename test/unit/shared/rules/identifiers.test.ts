import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMonitorId, matchId, newMonitorId, parseMatchId } from '../../../../shared/rules/identifiers.ts';

const seq = fc.integer({ min: 1, max: 999_999_999_999 });

test('a match id names its monitor and seq, and sorts as text in match order', () => {
  const monitor = newMonitorId();
  expect(isMonitorId(monitor)).toBe(true);
  fc.assert(
    fc.property(seq, seq, (a, b) => {
      expect(parseMatchId(matchId(monitor, a))).toEqual({ monitorId: monitor, seq: a });
      expect(matchId(monitor, a) < matchId(monitor, b)).toBe(a < b);
    }),
  );
});

test.each([
  '',
  'mat_',
  'mat_7n3k0v9xq2ma_42',
  'mon_7n3k0v9xq2ma',
  'mat_7n3k0v9xq2mu_000000000042',
  'mat_7n3k0v9xq2ma_000000000042 ',
])('%j is no match id', (text) => {
  expect(parseMatchId(text)).toBeUndefined();
});
