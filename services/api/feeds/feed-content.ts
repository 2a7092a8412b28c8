import { matchId } from '../../../shared/domain/identifiers.ts';
import type { FeedMatch } from '../../../shared/stores/feeds/feed-matches.ts';
import type { FoundFeed } from '../../../shared/stores/feeds/feed-tokens.ts';

/** What a feed says, in whatever format. */
export interface FeedContent {
  monitorId: string;
  title: string;
  description: string;
  /** The latest change of anything in it. */
  updatedAt: Date;
  entries: FeedEntry[];
}

export interface FeedEntry {
  /** Of the match. */
  id: string;
  url: string;
  title: string;
  /** Where it was found, and by which terms. */
  summary: string;
  /** Plain text. */
  text: string;
  /** null when it was removed. */
  author: string | null;
  /** When it was written, and when it was recorded or removed. */
  publishedAt: Date;
  updatedAt: Date;
  terms: string[];
}

/** @param found newest first */
export function feedContent({ monitorId, name, changedAt }: FoundFeed, found: readonly FeedMatch[]): FeedContent {
  const entries = found.map((match) => entryOf(monitorId, match));
  const changes = [changedAt, ...entries.map((entry) => entry.updatedAt)];
  return {
    monitorId,
    title: name,
    description: 'The newest matches of this monitor.',
    updatedAt: latest(changes),
    entries,
  };
}

function entryOf(monitorId: string, match: FeedMatch): FeedEntry {
  const { kind, subreddit, matchedTerms, author, createdAt, removedAt } = match;
  const isKnown = author !== '' && author !== '[deleted]';
  return {
    id: matchId(monitorId, match.seq),
    url: match.permalink,
    title: match.title === '' ? `A ${kind} in r/${subreddit}` : match.title,
    summary: `A ${kind} in r/${subreddit}, matched by ${matchedTerms.join(', ')}`,
    text: textOf(match),
    author: isKnown ? author : null,
    publishedAt: match.createdUtc,
    updatedAt: removedAt === null ? createdAt : latest([createdAt, removedAt]),
    terms: matchedTerms,
  };
}

function textOf({ body, isCut, removedAt }: FeedMatch): string {
  if (removedAt !== null) return '[removed]';
  return isCut ? `${body} …` : body;
}

function latest(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map((time) => time.getTime())));
}
