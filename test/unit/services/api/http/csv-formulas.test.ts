import { expect, test } from 'vitest';
import { withoutFormulas } from '../../../../../services/api/matches/export-formats.ts';
import { CSV_CELLS } from './csv-formulas.cases.ts';

test.each(CSV_CELLS)('the cell of %j is %j', (text, cell) => {
  expect(withoutFormulas(text)).toBe(cell);
});
