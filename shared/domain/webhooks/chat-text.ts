/**
 * What a piece of text takes of a message's limit: its length as it is sent, escaped. Never less than its own length.
 */
export type Measure = (piece: string) => number;

/** Marks stacked on one character beyond this are cut like characters of their own. */
const LONGEST_GRAPHEME = 32;
/** How much of a text a cut gives up, in graphemes, to end with a whole word. */
const WORD_SEARCH = 24;

const LONGEST_LINK = 1_000;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Marks that turn the direction of what follows: with them a text could make its surroundings read as something else.
 */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The text in one line, without control characters and direction marks; any run of whitespace is one blank. */
export function plainLine(text: string): string {
  return text
    .toWellFormed()
    .replace(DIRECTION_MARKS, '')
    .replace(/[\s\u0085]/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .replace(/ {2,}/g, ' ');
}

/** Whether anything can be seen of the text; chat products refuse texts that seem empty. */
export function isVisible(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/** The beginning of a line: at most `limit`, an ellipsis where it is cut included. */
export function headOf(line: string, limit: number, measure: Measure): string {
  const window = line.slice(0, limit + LONGEST_GRAPHEME);
  const { kept, isCut } = keep(splitGraphemes(window), window.length === line.length, limit, measure);
  return isCut ? `${kept.join('').trimEnd()}…` : kept.join('');
}

/** The end of a line: at most `limit`, an ellipsis where it is cut included. */
export function tailOf(line: string, limit: number, measure: Measure): string {
  const from = line.length - limit - LONGEST_GRAPHEME;
  const window = from <= 0 ? line : line.slice(graphemes.segment(line).containing(from)?.index);
  const pieces = splitGraphemes(window).reverse();
  const { kept, isCut } = keep(pieces, window.length === line.length, limit, measure);
  const text = kept.reverse().join('');
  return isCut ? `…${text.trimStart()}` : text;
}

/**
 * A permalink as chat products accept it in a link: http or https, and not so long that nothing else fits beside it.
 */
export function linkTarget(permalink: string, measure: Measure): string | undefined {
  if (!URL.canParse(permalink)) return undefined;
  const url = new URL(permalink);
  const href = url.href.replaceAll('|', '%7C');
  return (url.protocol === 'https:' || url.protocol === 'http:') && measure(href) <= LONGEST_LINK ? href : undefined;
}

function splitGraphemes(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of graphemes.segment(text)) {
    if (segment.length > LONGEST_GRAPHEME) pieces.push(...Array.from(segment));
    else pieces.push(segment);
  }
  return pieces;
}

/**
 * The first pieces that fit. Where some do not, one unit is left for the ellipsis and the cut goes back to a blank
 * nearby.
 */
function keep(
  pieces: readonly string[],
  isWhole: boolean,
  limit: number,
  measure: Measure,
): { kept: string[]; isCut: boolean } {
  if (isWhole && countFitting(pieces, limit, measure) === pieces.length) return { kept: [...pieces], isCut: false };
  if (limit < 1) return { kept: [], isCut: false };
  const count = countFitting(pieces, limit - 1, measure);
  const blank = pieces.lastIndexOf(' ', count);
  return { kept: pieces.slice(0, blank > 0 && count - blank <= WORD_SEARCH ? blank : count), isCut: true };
}

function countFitting(pieces: readonly string[], limit: number, measure: Measure): number {
  let total = 0;
  for (const [index, piece] of pieces.entries()) {
    total += measure(piece);
    if (total > limit) return index;
  }
  return pieces.length;
}
