import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { CooperativeYield } from '../../../shared/runtime/cooperative-yield.ts';
import { readArchivedCandidates } from '../../../shared/stores/archive/archived-candidates.ts';
import type { CandidatePage } from '../../../shared/stores/archive/archived-candidates.ts';
import type { ArchivedItem } from '../../../shared/stores/archive/archived-item.ts';
import { findNewestComments } from '../../../shared/stores/matches/archived-comments.ts';
import type { ArchivedComment } from '../../../shared/stores/matches/archived-comments.ts';
import type { ArchiveQuery } from './archive-queries.ts';

/** Comments that may be what is searched for: they have all words, and their terms are still to be looked for. */
export interface CommentsWanted {
  /** The search terms as written. */
  terms: readonly string[];
  /** The words of the terms, at least one. */
  words: readonly string[];
  subreddit: string | undefined;
  /** Milliseconds since the epoch; undefined for everything that is stored. */
  since: number | undefined;
  now: number;
}

interface OrderDeps {
  clickhouse: ClickHouseClient;
  ask: ArchiveQuery;
}

/**
 * So many comments that have all words are ranked, the last ones that were seen. Ranking reads the text of each: of a
 * usual word a month has millions.
 */
export const RANKED = 2_000;
const ROWS_PER_QUERY = 60;
const HOUR_MS = 3_600_000;
/** Longer than the archive keeps anything. */
const OLDEST_MS = 31 * 24 * HOUR_MS;
/** Searches of all requests take turns. */
const turns = new CooperativeYield();

/** The comments that come after `after`, the latest created first, page by page. */
export async function* byTime(
  { clickhouse, ask }: OrderDeps,
  { words, subreddit, since, now }: CommentsWanted,
  after: ArchivedComment | undefined,
): AsyncGenerator<ArchivedComment[], void> {
  let last = after;
  for (;;) {
    const query = { words, subreddit, since, now, after: last, limit: ROWS_PER_QUERY };
    const rows = await ask((signal) => findNewestComments(clickhouse, query, signal));
    yield rows;
    if (rows.length < ROWS_PER_QUERY) return;
    last = rows.at(-1);
  }
}

/**
 * The ranked comments that come after `after`, the most relevant first, at once. How relevant a comment is depends on
 * it alone, so that pages do not shift while others arrive.
 */
export async function* byRelevance(
  deps: OrderDeps,
  wanted: CommentsWanted,
  after: ArchivedComment | undefined,
): AsyncGenerator<ArchivedComment[], void> {
  const terms = foldedOnce(wanted.terms);
  const place = (comment: ArchivedComment) => ({ comment, relevance: relevanceOf(comment.body, terms) });
  const cursor = after && place(after);
  const subreddit = wanted.subreddit?.toLowerCase();
  const placed: Placed[] = [];
  for (const item of await readNewest(deps, wanted)) {
    await turns.pause();
    const { thing_id: thingId, title, body, nsfw, created_utc: createdUtc } = item.content;
    if (wanted.since !== undefined && Date.parse(createdUtc) < wanted.since) continue;
    if (subreddit !== undefined && item.content.subreddit.toLowerCase() !== subreddit) continue;
    const found = place({ thingId, title, body, nsfw, createdUtc });
    if (cursor === undefined || inOrder(cursor, found) < 0) placed.push(found);
  }
  yield placed.sort(inOrder).map(({ comment }) => comment);
}

/** The last comments that were seen and have all words. */
async function readNewest(
  { clickhouse, ask }: OrderDeps,
  { terms, subreddit }: CommentsWanted,
): Promise<ArchivedItem[]> {
  const rule: Rule = {
    ...{ keywords: [], exclude: [], posts: false, comments: true, nsfw: true },
    subreddits: subreddit === undefined ? [] : [subreddit],
    require: terms.map((term) => [term]),
  };
  // By the archive's clock, which may have been ahead.
  const to = Date.now() + HOUR_MS;
  const period = { from: new Date(to - OLDEST_MS), to: new Date(to), order: 'newest' } as const;
  const items: ArchivedItem[] = [];
  let page: CandidatePage | undefined;
  do {
    const place = { after: page?.next, windowMs: page?.windowMs, limit: RANKED - items.length };
    page = await ask((signal) => readArchivedCandidates(clickhouse, { rule, ...period, ...place, signal }));
    items.push(...page.items);
  } while (page.next !== undefined && items.length < RANKED);
  return items;
}

interface Placed {
  comment: ArchivedComment;
  relevance: number;
}

/** By relevance, the later id first among equals. */
function inOrder(one: Placed, other: Placed): number {
  if (one.relevance !== other.relevance) return other.relevance - one.relevance;
  const [id, otherId] = [one.comment.thingId, other.comment.thingId];
  return id === otherId ? 0 : id > otherId ? -1 : 1;
}

/** Terms that differ only in case occur equally often. */
function foldedOnce(terms: readonly string[]): string[] {
  return [...new Set(terms.map((term) => term.toLowerCase()))];
}

/** Of a term, more occurrences than these do not make a comment more relevant. */
const MOST_OCCURRENCES = 5;

/** Higher when the terms, in lower case, occur more often; lower for longer comments. */
function relevanceOf(body: string, terms: readonly string[]): number {
  const text = body.toLowerCase();
  const occurrences = terms.reduce((sum, term) => sum + countOf(text, term), 0);
  return occurrences / (100 + body.length);
}

function countOf(text: string, term: string): number {
  let count = 0;
  for (let at = text.indexOf(term); at >= 0 && count < MOST_OCCURRENCES; at = text.indexOf(term, at + term.length)) {
    count += 1;
  }
  return count;
}
