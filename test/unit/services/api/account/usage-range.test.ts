import { expect, test } from 'vitest';
import { usageQuery } from '../../../../../schemas/api/account.ts';
import { usageRange } from '../../../../../services/api/account/usage-range.ts';

const NOW = Date.parse('2026-03-10T10:20:30.400Z');

test.each<[object, [string, string]]>([
  [{}, ['2026-02-09', '2026-03-10']],
  [{ from: '2026-03-01' }, ['2026-03-01', '2026-03-10']],
  [{ to: '2026-01-05' }, ['2025-12-07', '2026-01-05']],
  [{ to: '0001-01-01' }, ['0001-01-01', '0001-01-01']],
  [{ to: '0001-01-29' }, ['0001-01-01', '0001-01-29']],
  [{ to: '0001-02-01' }, ['0001-01-03', '0001-02-01']],
  [{ to: '9999-12-31' }, ['9999-12-02', '9999-12-31']],
])('%j is %j', (query, days) => {
  const { from, to } = usageRange(usageQuery.parse(query), NOW);
  expect([from, to]).toEqual(days);
});
