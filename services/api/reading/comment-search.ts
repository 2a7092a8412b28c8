import type { CommentItem, CommentListing } from '../../../schemas/api/reading.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { searchableWords } from '../../../shared/matching/searchable-words.ts';
import { TermFinder } from '../../../shared/matching/terms/term-index.ts';
import { isRemovedText } from '../../../shared/matching/rule.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { CooperativeYield } from '../../../shared/runtime/clock.ts';
import { readArchivedCandidates } from '../../../shared/archive/archived-candidates.ts';
import type { CandidatePage } from '../../../shared/archive/archived-candidates.ts';
import type { ArchivedItem } from '../../../shared/archive/archived-item.ts';
import { findArchivedComment, findNewestComments } from '../../../shared/matches/archived-comments.ts';
import type { ArchivedComment } from '../../../shared/matches/archived-comments.ts';
import type { ApiError } from '../http/api-error.ts';
import { invalidRequest } from '../http/api-error.ts';
import type { ArchiveQuery } from './archive-queries.ts';
import type { ForumSource } from './forum-source.ts';

interface CommentSearch {
  q: string;
  sub?: string | undefined;
  sort: 'relevance' | 'new' | 'top';
  t?: string | undefined;
  after?: string | undefined;
  nsfw: boolean;
}

export interface CommentArchiveDeps {
  clickhouse: ClickHouseClient;
  source: ForumSource;
  clock: Clock;
  /** Aborts when the client disconnects. */
  signal?: AbortSignal | undefined;
}

interface SearchDeps extends CommentArchiveDeps {
  queryArchive: ArchiveQuery;
}

/** Comments per page. A page has fewer when some were deleted on the forum since they were archived. */
const PAGE_SIZE = 12;
/** Number of most relevant comments that are sorted by score: as many as one forum call can refresh. */
const TOP_CANDIDATES = 100;
/** A page ends after this many comments that have all words, even if few of them match. */
const MAX_SCANNED = 600;

const HOUR_MS = 3_600_000;
const WINDOW_MS: Record<string, number> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
  year: 365 * 24 * HOUR_MS,
};

/** Matching comments of the archive in one order, and the cursor of the next page. */
interface ArchiveScan {
  comments: ArchivedComment[];
  filtered: number;
  /** undefined at the end. */
  next: string | undefined;
}

/**
 * Searches the archive, which holds the comments of the last 30 days. All words and quoted phrases of `q` must occur,
 * by the rules of monitor keywords. Sorted by time, all of them are found; by relevance or score, the last 2,000 that
 * were seen are ranked. Results are read again from the forum, so that scores are current and deleted comments are left
 * out.
 *
 * @throws ApiError invalid_request when `q` has no word, or the comment `after` was removed or is not in the archive;
 * internal_error (503) when the archive is unavailable or takes too long
 * @throws UpstreamError
 */
export async function searchComments(archive: SearchDeps, search: CommentSearch): Promise<CommentListing> {
  const { terms, words } = termsOf(search);
  const now = archive.clock();
  const wanted: CommentQuery = { words, terms, subreddit: search.sub, since: windowStart(search.t, now), now };
  const after = await findCursor(archive, search);
  const finder = new TermFinder(terms);
  const page =
    search.sort === 'top'
      ? await topPage(archive, wanted, finder, search, after)
      : await nextPage(archive, wanted, finder, search, after);
  return {
    subreddit: search.sub ?? null,
    query: search.q,
    sort: search.sort,
    count: page.items.length,
    items: page.items,
    after: page.next ?? null,
    filtered_nsfw: page.filtered,
    degraded: page.malformed > 0,
  };
}

/** @throws ApiError invalid_request when `q` has no word */
export function termsOf({ q }: Pick<CommentSearch, 'q'>): { terms: string[]; words: string[] } {
  const terms = searchTerms(q);
  const words = [...new Set(terms.flatMap(searchableWords))];
  if (words.length > 0) return { terms, words };
  throw invalidRequest([{ field: 'q', message: 'must contain at least one word to search for' }]);
}

interface FoundPage {
  items: CommentItem[];
  filtered: number;
  next: string | undefined;
  malformed: number;
}

async function nextPage(
  archive: SearchDeps,
  wanted: CommentQuery,
  finder: TermFinder,
  { nsfw, sort }: CommentSearch,
  after: ArchivedComment | undefined,
): Promise<FoundPage> {
  const comments = (sort === 'new' ? byTime : byRelevance)(archive, wanted, after);
  const scan = await scanArchive(comments, finder, { count: PAGE_SIZE, nsfw, after });
  const current = await refreshFromForum(archive, scan.comments);
  return { ...current, filtered: scan.filtered, next: scan.next };
}

/**
 * Returns the most relevant comments in the order of their current scores. `after` keeps its position in that order
 * even if it no longer is among the most relevant.
 */
async function topPage(
  archive: SearchDeps,
  wanted: CommentQuery,
  finder: TermFinder,
  { nsfw }: CommentSearch,
  after: ArchivedComment | undefined,
): Promise<FoundPage> {
  const comments = byRelevance(archive, wanted, undefined);
  const scan = await scanArchive(comments, finder, { count: TOP_CANDIDATES, nsfw, after: undefined });
  const isAmong = scan.comments.some(({ thingId: id }) => id === after?.thingId);
  // One forum call refreshes them all.
  const candidates =
    after === undefined || isAmong ? scan.comments : [...scan.comments.slice(0, TOP_CANDIDATES - 1), after];
  const current = await refreshFromForum(archive, candidates);
  const { malformed } = current;
  const byScore = current.items.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  const cursorIndex = byScore.findIndex(({ name }) => name === after?.thingId);
  // The cursor comment was deleted, so its position is unknown. Ending here is better than repeating the first page.
  const start = after !== undefined && cursorIndex < 0 ? byScore.length : cursorIndex + 1;
  const items = byScore.slice(start, start + PAGE_SIZE);
  const next = start + PAGE_SIZE < byScore.length ? items.at(-1)?.name : undefined;
  return { items, filtered: scan.filtered, next, malformed };
}

/** Takes comments in their order until enough of them contain all terms. */
async function scanArchive(
  pages: AsyncIterable<ArchivedComment[]>,
  finder: TermFinder,
  limits: { count: number; nsfw: boolean; after: ArchivedComment | undefined },
): Promise<ArchiveScan> {
  const scan: ArchiveScan = { comments: [], filtered: 0, next: undefined };
  let last = limits.after;
  let scanned = 0;
  for await (const comments of pages) {
    for (const comment of comments) {
      if (scan.comments.length === limits.count || scanned === MAX_SCANNED) return { ...scan, next: last?.thingId };
      last = comment;
      scanned += 1;
      if (!finder.allOccurIn(comment.body)) continue;
      if (comment.nsfw && !limits.nsfw) scan.filtered++;
      else scan.comments.push(comment);
    }
  }
  return scan;
}

/** Returns the comments as the forum has them now, in the same order, without deleted and malformed ones. */
async function refreshFromForum(
  { source }: CommentArchiveDeps,
  archived: readonly ArchivedComment[],
): Promise<Pick<FoundPage, 'items' | 'malformed'>> {
  const titles = new Map(archived.map(({ thingId: id, title }) => [id, title]));
  const { comments, malformed } = await source.commentsById([...titles.keys()]);
  const items: CommentItem[] = [];
  for (const [name, title] of titles) {
    const comment = comments.get(name);
    if (comment && !isRemovedText(comment.body)) items.push({ ...comment, post_title: comment.post_title || title });
  }
  return { items, malformed };
}

async function findCursor(archive: SearchDeps, { after, sort }: CommentSearch): Promise<ArchivedComment | undefined> {
  if (after === undefined) return undefined;
  const comment = await archive.queryArchive((signal) => findArchivedComment(archive.clickhouse, after, signal));
  if (comment === undefined) {
    throw refusedCursor('is not a comment in the archive; send the `after` of the previous page');
  }
  // Without its text its relevance is unknown. With relevance 0 the page would be empty, like the last one.
  if (sort === 'relevance' && comment.body === '') {
    throw refusedCursor('is a comment that has since been removed; start again without `after`, or use `sort=new`');
  }
  return comment;
}

function refusedCursor(message: string): ApiError {
  return invalidRequest([{ field: 'after', message }]);
}

/** Milliseconds since the epoch. */
function windowStart(window: string | undefined, now: number): number | undefined {
  const ms = WINDOW_MS[window ?? 'all'];
  return ms === undefined ? undefined : now - ms;
}

/** What comments must have; those with all words may still lack a term. */
export interface CommentQuery {
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
  queryArchive: ArchiveQuery;
}

/**
 * How many comments with all words are ranked, the last ones that were seen. Ranking reads the text of each, and a
 * month has millions with a usual word.
 */
const RANKED = 2_000;
const ROWS_PER_QUERY = 60;
/** Longer than the archive keeps anything. */
const OLDEST_MS = 31 * 24 * HOUR_MS;
/** Shared, so that no two searches hold the event loop one after the other. */
const cooperativeYield = new CooperativeYield();

/** The comments that follow `after`, the latest created first, page by page. */
export async function* byTime(
  { clickhouse, queryArchive }: OrderDeps,
  { words, subreddit, since, now }: CommentQuery,
  after: ArchivedComment | undefined,
): AsyncGenerator<ArchivedComment[], void> {
  let last = after;
  for (;;) {
    const query = { words, subreddit, since, now, after: last, limit: ROWS_PER_QUERY };
    const rows = await queryArchive((signal) => findNewestComments(clickhouse, query, signal));
    yield rows;
    if (rows.length < ROWS_PER_QUERY) return;
    last = rows.at(-1);
  }
}

/**
 * The ranked comments that follow `after`, the most relevant first, in one page. The relevance of a comment depends on
 * it alone, so that pages do not shift while others arrive.
 */
async function* byRelevance(
  deps: OrderDeps,
  wanted: CommentQuery,
  after: ArchivedComment | undefined,
): AsyncGenerator<ArchivedComment[], void> {
  const terms = foldedOnce(wanted.terms);
  const rank = (comment: ArchivedComment) => ({ comment, relevance: relevanceOf(comment.body, terms) });
  const cursor = after && rank(after);
  const subreddit = wanted.subreddit?.toLowerCase();
  const ranked: RankedComment[] = [];
  for (const item of await readNewest(deps, wanted)) {
    await cooperativeYield.pause();
    const { thing_id: thingId, title, body, nsfw, created_utc: createdUtc } = item.content;
    if (wanted.since !== undefined && Date.parse(createdUtc) < wanted.since) continue;
    if (subreddit !== undefined && item.content.subreddit.toLowerCase() !== subreddit) continue;
    const found = rank({ thingId, title, body, nsfw, createdUtc });
    if (cursor === undefined || inOrder(cursor, found) < 0) ranked.push(found);
  }
  yield ranked.sort(inOrder).map(({ comment }) => comment);
}

/** The last seen comments with all words. */
async function readNewest(
  { clickhouse, queryArchive }: OrderDeps,
  { terms, subreddit }: CommentQuery,
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
    const position = { after: page?.next, windowMs: page?.windowMs, limit: RANKED - items.length };
    page = await queryArchive((signal) => readArchivedCandidates(clickhouse, { rule, ...period, ...position, signal }));
    items.push(...page.items);
  } while (page.next !== undefined && items.length < RANKED);
  return items;
}

interface RankedComment {
  comment: ArchivedComment;
  relevance: number;
}

/** By relevance, the later id first among equals. */
function inOrder(one: RankedComment, other: RankedComment): number {
  if (one.relevance !== other.relevance) return other.relevance - one.relevance;
  const [id, otherId] = [one.comment.thingId, other.comment.thingId];
  return id === otherId ? 0 : id > otherId ? -1 : 1;
}

/** Terms that differ only in case occur equally often. */
function foldedOnce(terms: readonly string[]): string[] {
  return [...new Set(terms.map((term) => term.toLowerCase()))];
}

/** More occurrences of a term than these do not make a comment more relevant. */
const MAX_OCCURRENCES = 5;

/** Higher when the terms, in lower case, occur more often; lower for longer comments. */
function relevanceOf(body: string, terms: readonly string[]): number {
  const text = body.toLowerCase();
  const occurrences = terms.reduce((sum, term) => sum + countOf(text, term), 0);
  return occurrences / (100 + body.length);
}

function countOf(text: string, term: string): number {
  let count = 0;
  for (let at = text.indexOf(term); at >= 0 && count < MAX_OCCURRENCES; at = text.indexOf(term, at + term.length)) {
    count += 1;
  }
  return count;
}

/** Matches a phrase in any kind of quotation marks, or a word. */
const PHRASE = /["“”„«»「」]([^"“”„«»「」]*)["“”„«»「」]?|[^\s"“”„«»「」]+/g;

/** Splits a search text into distinct words and quoted phrases. An unclosed quote extends to the end. */
function searchTerms(q: string): string[] {
  const terms = new Set<string>();
  for (const [whole, phrase] of q.matchAll(PHRASE)) {
    const term = (phrase ?? whole).trim();
    if (term !== '') terms.add(term);
  }
  return [...terms];
}
