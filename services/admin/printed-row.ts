/** A stored row as commands print it: the same fields in snake_case, in the same order. */
export function printedRow(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [
      field.replace(/[A-Z]|(?<=[a-z])\d/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}
