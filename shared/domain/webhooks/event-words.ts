import type { Digest, Spike } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { isVisible } from './chat-text.ts';

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
