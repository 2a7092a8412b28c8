import { expect, test } from 'vitest';
import { printedRow } from '../../../../services/admin/printed-row.ts';

test('prints fields in snake_case and in their order, and keeps values', () => {
  const at = new Date(0);
  const row = { id: 'mon_1', webhookUrl: null, nextChargeAt: at, firstBrokenId: 7, keywords: ['iPhone'] };
  expect(Object.entries(printedRow(row))).toEqual([
    ['id', 'mon_1'],
    ['webhook_url', null],
    ['next_charge_at', at],
    ['first_broken_id', 7],
    ['keywords', ['iPhone']],
  ]);
});
