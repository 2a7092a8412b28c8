import type { Digest, Spike } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { positionsOfTerm } from '../../matching/explain.ts';

/** The length of a piece as it is sent, with escapes; never less than that of the piece. */
export type Measure = (piece: string) => number;

/** A grapheme longer than this (many stacked marks) is cut as separate characters. */
const MAX_GRAPHEME_LENGTH = 32;
/** How many graphemes a cut may drop to end with a whole word. */
const MAX_WORD_LOSS = 24;

const MAX_LINK_LENGTH = 1_000;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** With these marks of direction a text could disguise what surrounds it. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The text in one line, without control characters and direction marks. A run of whitespace becomes one blank. */
export function plainLine(text: string): string {
  return text
    .toWellFormed()
    .replace(DIRECTION_MARKS, '')
    .replace(/[\s\u0085]/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .replace(/ {2,}/g, ' ');
}

/** Whether any character of the text is visible. Chat products refuse texts that appear empty. */
export function isVisible(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/** The beginning of a line, at most `limit` long including the ellipsis where it is cut. */
export function headOf(line: string, limit: number, measure: Measure): string {
  const window = line.slice(0, limit + MAX_GRAPHEME_LENGTH);
  const { kept, isCut } = keep(splitGraphemes(window), window.length === line.length, limit, measure);
  return isCut ? `${kept.join('').trimEnd()}…` : kept.join('');
}

/** The end of a line, at most `limit` long including the ellipsis where it is cut. */
export function tailOf(line: string, limit: number, measure: Measure): string {
  const from = line.length - limit - MAX_GRAPHEME_LENGTH;
  const window = from <= 0 ? line : line.slice(graphemes.segment(line).containing(from)?.index);
  const pieces = splitGraphemes(window).reverse();
  const { kept, isCut } = keep(pieces, window.length === line.length, limit, measure);
  const text = kept.reverse().join('');
  return isCut ? `…${text.trimStart()}` : text;
}

/** The link, if chat products accept it: http or https, and short enough to leave room for the text. */
export function linkTarget(permalink: string, measure: Measure): string | undefined {
  if (!URL.canParse(permalink)) return undefined;
  const url = new URL(permalink);
  const href = url.href.replaceAll('|', '%7C');
  return (url.protocol === 'https:' || url.protocol === 'http:') && measure(href) <= MAX_LINK_LENGTH ? href : undefined;
}

function splitGraphemes(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of graphemes.segment(text)) {
    if (segment.length > MAX_GRAPHEME_LENGTH) pieces.push(...Array.from(segment));
    else pieces.push(segment);
  }
  return pieces;
}

/** The first pieces that fit. A cut leaves room for the ellipsis and moves back to a blank nearby. */
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
  return { kept: pieces.slice(0, blank > 0 && count - blank <= MAX_WORD_LOSS ? blank : count), isCut: true };
}

function countFitting(pieces: readonly string[], limit: number, measure: Measure): number {
  let total = 0;
  for (const [index, piece] of pieces.entries()) {
    total += measure(piece);
    if (total > limit) return index;
  }
  return pieces.length;
}

/** Matches that a message for a chat product lists. */
export const LISTED_MATCHES = 10;

/** `12 new matches` */
export function digestTitle({ count }: Digest): string {
  return count === 1 ? '1 new match' : `${count.toLocaleString('en')} new matches`;
}

/** `and 2 more`, undefined when all are listed. */
export function unlisted({ count, matches }: Digest): string | undefined {
  const more = count - Math.min(matches.length, LISTED_MATCHES);
  return more > 0 ? `and ${more.toLocaleString('en')} more` : undefined;
}

/** A match in one line, not escaped. */
export function matchTitle(match: MonitorMatch): string {
  return isVisible(match.title) ? match.title : `${match.kind} in r/${match.subreddit}`;
}

/** `57 matches from 13:00 to 14:00 UTC on 2026-03-04, usually 4`, with the hour that it is about. */
export function spikeSentence({ at, count, expected }: Spike): string {
  const begin = new Date(at);
  const end = new Date(begin.getTime() + 3_600_000);
  const time = (moment: Date) => moment.toISOString().slice(11, 16);
  const usual = expected.toLocaleString('en', { maximumFractionDigits: 1 });
  return `${count.toLocaleString('en')} matches from ${time(begin)} to ${time(end)} UTC on ${at.slice(0, 10)}, usually ${usual}`;
}

/** An excerpt of a match's text in one line, cut between words where possible, with an ellipsis at each cut. */
export interface MatchExcerpt {
  before: string;
  /** The first occurrence of the first matched term; empty when it occurs in the title (of the post) only. */
  hit: string;
  after: string;
}

/** Combining marks that belong to the previous character; the markup of the hit must not separate them. */
const TRAILING_PARTS = /^[\p{M}\p{Emoji_Modifier}\u200d]+/u;

/**
 * Cuts an excerpt around the first hit, or from the beginning of the text when it has no hit. Returns undefined when
 * the text is empty.
 *
 * @param limit of the sum of `measure` over the three parts
 */
export function matchExcerpt(match: MonitorMatch, limit: number, measure: Measure): MatchExcerpt | undefined {
  if (!isVisible(plainLine(match.body))) return undefined;
  const range = firstHit(match);
  if (!range) return { before: '', hit: '', after: headOf(plainLine(match.body).trim(), limit, measure) };
  const [before, hit, after] = splitAt(match.body, range.start, range.end);
  const room = limit - measure(hit);
  if (room < 0) return { before: '', hit: headOf(hit, limit, measure), after: '' };
  const [costBefore, costAfter] = [measure(before), measure(after)];
  const half = Math.floor(room / 2);
  // Space that one side does not need goes to the other.
  const roomBefore = Math.max(half, room - costAfter);
  const roomAfter = room - Math.min(costBefore, roomBefore);
  return { before: tailOf(before, roomBefore, measure), hit, after: headOf(after, roomAfter, measure) };
}

/** The term may be the beginning of a word: the message does not say how it is searched. */
function firstHit(match: MonitorMatch): { start: number; end: number } | undefined {
  const [term] = match.matched_terms;
  if (term === undefined) return undefined;
  const item = { kind: match.kind, title: match.title, text: match.body, subreddit: match.subreddit, nsfw: false };
  return positionsOfTerm(term, item).find(({ field }) => field === 'text');
}

/** The three parts as plain lines. The hit has no blanks at its ends, nor has the whole text. */
function splitAt(body: string, start: number, end: number): [string, string, string] {
  const found = plainLine(body.slice(start, end));
  const before = plainLine(body.slice(0, start) + /^ ?/.exec(found)![0]).trimStart();
  const rest = plainLine(/ ?$/.exec(found)![0] + body.slice(end)).trimEnd();
  const belonging = TRAILING_PARTS.exec(rest)?.[0] ?? '';
  return [before, found.trim() + belonging, rest.slice(belonging.length)];
}
