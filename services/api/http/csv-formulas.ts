/**
 * Where a spreadsheet could begin a formula: at the start of a cell, and after a character that ends a cell in some
 * settings. Where lists are separated by `;`, a cell `a;=1` is two, whatever commas and quotes stand around it; quotes
 * and blanks in between are skipped. What matches has no quote of SQL: DuckDB reads the same pattern.
 */
const FORMULA = /(^|[;\t\r\n])([" ]*[=+@＝＋－＠-])/g;

/** A text as a cell of CSV: an apostrophe stands before all that a spreadsheet could take for a formula. */
export function withoutFormulas(text: string): string {
  return text.replace(FORMULA, "$1'$2");
}

/** The same as an expression of DuckDB. */
export function withoutFormulasInSql(text: string): string {
  return `regexp_replace(${text}, '${FORMULA.source}', '\\1''\\2', 'g')`;
}
