/**
 * Line breaks of any standard: a reader that knows more of them than Markdown must not see other lines than we checked.
 */
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** Control characters but tab and line feed: parsers disagree on whether they are white space. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;
/**
 * Marks that turn the direction of what follows, and tag characters, which no reader sees and a model reads as letters:
 * with them a text could say to one what the other does not see.
 */
const HIDDEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** The lines of a text from outside, without control characters, direction marks and tag characters. */
export function plainLines(text: string): string[] {
  return text.toWellFormed().replace(LINE_BREAK, '\n').replace(CONTROL, '').replace(HIDDEN, '').split('\n');
}
