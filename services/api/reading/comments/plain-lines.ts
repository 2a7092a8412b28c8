/**
 * Line breaks of any standard. A reader that knows more of them than Markdown must see the same lines that we checked.
 */
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** Control characters except tab and line feed. Parsers disagree on whether they are white space. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;
/**
 * Direction marks and tag characters. Readers do not see them, but a model reads tag characters as letters, so a text
 * could tell a model something that people do not see.
 */
const HIDDEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** Splits an untrusted text into lines, without control characters, direction marks and tag characters. */
export function plainLines(text: string): string[] {
  return text.toWellFormed().replace(LINE_BREAK, '\n').replace(CONTROL, '').replace(HIDDEN, '').split('\n');
}
