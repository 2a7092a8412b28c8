import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { positionsOfTerm } from '../../matching/explain.ts';
import { headOf, isVisible, plainLine, tailOf } from './chat-text.ts';
import type { Measure } from './chat-text.ts';

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

/**
 * Finds the first matched term in the text, by the rules of matching. The message does not say how the term is
 * searched: one that occurs nowhere as a whole is the beginning of a word.
 */
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
