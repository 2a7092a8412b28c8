/** A text, and what it is in a file of CSV. */
export const CSV_CELLS: readonly (readonly [text: string, cell: string])[] = [
  ['=cmd()', "'=cmd()"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@x', "'@x"],
  ['＝1', "'＝1"],
  [' =1', "' =1"],
  // A tab or the end of a line at the start is dropped by some, and what follows begins the cell.
  ['\t=1', "\t'=1"],
  ['\r\n\t=1', "\r\n\t'=1"],
  // Cells of their own where `;` or a tab separates, or where the quotes around the cell are not seen.
  ['a;=cmd()', "a;'=cmd()"],
  ['a; "=cmd()', `a;' "=cmd()`],
  ['a;b;-1;=2', "a;b;'-1;'=2"],
  ['a\t@x', "a\t'@x"],
  ['a\n- b\n+ c', "a\n'- b\n'+ c"],
  // No formulas.
  ['a=1, b-c', 'a=1, b-c'],
  ['a;b', 'a;b'],
  ['a\tb', 'a\tb'],
  ["it's", "it's"],
  ['', ''],
];
