const WIDEST = 60;

/** Lines as a table for a terminal: a column for each field, cut at 60 characters; `none` for no lines. */
export function table(lines: readonly object[], none: string): string {
  if (lines.length === 0) return none;
  const fields = [...new Set(lines.flatMap((line) => Object.keys(line)))];
  const rows = lines.map((line) => fields.map((field) => cell((line as Record<string, unknown>)[field])));
  const widths = fields.map((field, column) => Math.max(field.length, ...rows.map((row) => row[column]!.length)));
  const toText = (cells: readonly string[]) =>
    cells
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [toText(fields), ...rows.map(toText)].join('\n');
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  const text = value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : JSON.stringify(value);
  // Control characters of stored texts must not reach the terminal.
  const printable = text.replace(/\p{C}/gu, '\u{fffd}');
  return printable.length > WIDEST ? `${printable.slice(0, WIDEST - 1)}…` : printable;
}
