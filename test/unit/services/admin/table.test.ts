import { expect, test } from 'vitest';
import { table } from '../../../../services/admin/table.ts';

test('a column for each field of any line, without what could control the terminal', () => {
  const lines = [
    { id: 'a', keywords: ['x', 'y'], at: new Date(0), note: null },
    { id: 'longer', text: 'one\u001b[31m\ntwo', note: 'z'.repeat(100) },
  ];
  expect(table(lines, 'none').split('\n')).toEqual([
    `id      keywords   at                        note${' '.repeat(58)}text`,
    `a       ["x","y"]  1970-01-01T00:00:00.000Z  -${' '.repeat(61)}-`,
    `longer  -          -                         ${'z'.repeat(59)}…  one\u{fffd}[31m\u{fffd}two`,
  ]);
  expect(table([], 'none')).toBe('none');
});
