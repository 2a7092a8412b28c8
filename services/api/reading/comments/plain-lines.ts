/** Line breaks of any standard: a reader that knows more of them than Markdown must not see other lines than we checked. */
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** Control characters but tab and line feed: parsers disagree on whether they are white space. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** The lines of a text from outside, without control characters. */
export function plainLines(text: string): string[] {
  return text.toWellFormed().replace(LINE_BREAK, '\n').replace(CONTROL, '').split('\n');
}
