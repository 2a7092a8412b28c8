/** Characters that steer a terminal, reorder a text, begin a line or cannot be seen. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text in one line, in which texts of others cannot steer the terminal or look like a further line. */
export function printable(text: string): string {
  return text.replaceAll('\n', '\\n').replace(UNPRINTABLE, (character) => (character === '\t' ? character : '?'));
}

/** The same for a text whose own lines stay. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
