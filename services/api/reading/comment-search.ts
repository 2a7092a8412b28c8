import type { CommentItem, CommentListing } from '../../../schemas/api/forum-resources.ts';
import { isClickhouseAway } from '../../../shared/clickhouse/clickhouse-away.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { searchableWords } from '../../../shared/matching/searchable-words.ts';
import { TermFinder } from '../../../shared/matching/terms/term-finder.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import { findArchivedComment, searchArchivedComments } from '../../../shared/stores/matches/archived-comments.ts';
import type { ArchivedComment, CommentQuery } from '../../../shared/stores/matches/archived-comments.ts';
import { ApiError } from '../http/api-error.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import type { ForumSource } from './forum-source.ts';
import { searchTerms } from './search-terms.ts';

export interface CommentSearch {
  q: string;
  sub?: string | undefined;
  sort: 'relevance' | 'new' | 'top';
  t?: string | undefined;
  after?: string | undefined;
  nsfw: boolean;
}

export interface CommentArchive {
  clickhouse: ClickHouseClient;
  source: ForumSource;
  clock: Clock;
}

interface SearchedArchive extends CommentArchive {
  /** By performance.now(): when ClickHouse is given up. */
  deadlineAt: number;
}

/** What a page holds; fewer when some are gone on the forum meanwhile. */
const PAGE = 12;
/** How many of the most relevant are put in the order of their scores: as many as one call to the forum can refresh. */
const TOP_CANDIDATES = 100;
const ROWS_PER_QUERY = 60;
/** A page ends after so many queries, however few of their rows were what was asked for. */
const MOST_QUERIES = 10;

/** All queries of one search; requests are answered within 10 s, whatever ClickHouse does. */
const SEARCH_MS = 7_000;

const HOUR_MS = 3_600_000;
const WINDOW_MS: Record<string, number> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
  year: 365 * 24 * HOUR_MS,
};

/** Comments that were taken from the archive in one order, and where to go on. */
interface Taken {
  comments: ArchivedComment[];
  filtered: number;
  /** undefined: there are no more. */
  next: string | undefined;
}

/**
 * Searches the archive of comments, which holds those of the last 30 days: all words and quoted phrases of `q` must
 * occur, by the rules of keywords. What is found is looked up on the forum, so that scores are current and what was
 * deleted is left out.
 *
 * @throws ApiError invalid_request when `q` holds no word or `after` is no comment of the archive; upstream_error when
 * that is away
 * @throws UpstreamError
 */
export async function searchComments(shared: CommentArchive, search: CommentSearch): Promise<CommentListing> {
  const archive: SearchedArchive = { ...shared, deadlineAt: performance.now() + SEARCH_MS };
  const terms = searchTerms(search.q);
  const words = [...new Set(terms.flatMap(searchableWords))];
  if (words.length === 0) throw invalidRequest([{ field: 'q', message: 'holds no word to search for' }]);
  const query: Omit<CommentQuery, 'after' | 'limit'> = {
    words,
    terms,
    subreddit: search.sub,
    since: sinceOf(search.t, archive.clock()),
    order: search.sort === 'new' ? 'new' : 'relevance',
  };
  const after = await cursorOf(archive, search.after, terms);
  const finder = new TermFinder(terms);
  const page =
    search.sort === 'top'
      ? await topPage(archive, query, finder, search, after)
      : await nextPage(archive, query, finder, search, after);
  return {
    subreddit: search.sub ?? null,
    query: search.q,
    sort: search.sort,
    count: page.items.length,
    items: page.items,
    after: page.next ?? null,
    filtered_nsfw: page.filtered,
    degraded: false,
  };
}

interface FoundPage {
  items: CommentItem[];
  filtered: number;
  next: string | undefined;
}

type Query = Omit<CommentQuery, 'after' | 'limit'>;

async function nextPage(
  archive: SearchedArchive,
  query: Query,
  finder: TermFinder,
  { nsfw }: CommentSearch,
  after: ArchivedComment | undefined,
): Promise<FoundPage> {
  const taken = await take(archive, query, finder, { count: PAGE, nsfw, after });
  const current = await refreshed(archive, taken.comments);
  return { items: [...current.values()], filtered: taken.filtered, next: taken.next };
}

/**
 * The most relevant comments in the order of their scores now; `after` has its own place among them, even if it has
 * left them.
 */
async function topPage(
  archive: SearchedArchive,
  query: Query,
  finder: TermFinder,
  { nsfw }: CommentSearch,
  after: ArchivedComment | undefined,
): Promise<FoundPage> {
  const taken = await take(archive, query, finder, { count: TOP_CANDIDATES, nsfw, after: undefined });
  const candidates = taken.comments.slice(0, after === undefined ? TOP_CANDIDATES : TOP_CANDIDATES - 1);
  const isAmong = candidates.some(({ thing_id: id }) => id === after?.thing_id);
  const current = await refreshed(archive, after === undefined || isAmong ? candidates : [...candidates, after]);
  const byScore = [...current.values()].sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  const place = byScore.findIndex(({ name }) => name === after?.thing_id);
  // Gone meanwhile, and with it its place: an end is better than the first page again.
  const from = after !== undefined && place < 0 ? byScore.length : place + 1;
  const items = byScore.slice(from, from + PAGE);
  return { items, filtered: taken.filtered, next: from + PAGE < byScore.length ? items.at(-1)?.name : undefined };
}

/** Comments in which all terms occur, in the archive's order, until there are enough. */
async function take(
  archive: SearchedArchive,
  query: Query,
  finder: TermFinder,
  wanted: { count: number; nsfw: boolean; after: ArchivedComment | undefined },
): Promise<Taken> {
  const taken: Taken = { comments: [], filtered: 0, next: undefined };
  let last = wanted.after;
  for (let queries = 0; queries < MOST_QUERIES; queries++) {
    const page = { ...query, after: last, limit: ROWS_PER_QUERY };
    const rows = await inArchive(archive, (signal) => searchArchivedComments(archive.clickhouse, page, signal));
    for (const row of rows) {
      if (taken.comments.length === wanted.count) return { ...taken, next: last?.thing_id };
      last = row;
      if (!finder.occurIn(row.body)) continue;
      if (row.nsfw && !wanted.nsfw) taken.filtered++;
      else taken.comments.push(row);
    }
    if (rows.length < ROWS_PER_QUERY) return taken;
  }
  return { ...taken, next: last?.thing_id };
}

const GONE = new Set(['[deleted]', '[removed]']);

/** As they are on the forum now, in the same order; without those that are gone. */
async function refreshed(
  { source }: CommentArchive,
  archived: readonly ArchivedComment[],
): Promise<Map<string, CommentItem>> {
  const titles = new Map(archived.map(({ thing_id: id, title }) => [id, title]));
  const found = await source.commentsById([...titles.keys()]);
  const current = new Map<string, CommentItem>();
  for (const [name, title] of titles) {
    const comment = found.get(name);
    if (comment && !GONE.has(comment.body)) current.set(name, { ...comment, post_title: comment.post_title || title });
  }
  return current;
}

async function cursorOf(
  archive: SearchedArchive,
  after: string | undefined,
  terms: readonly string[],
): Promise<ArchivedComment | undefined> {
  if (after === undefined) return undefined;
  const comment = await inArchive(archive, (signal) => findArchivedComment(archive.clickhouse, after, terms, signal));
  if (comment === undefined) throw invalidRequest([{ field: 'after', message: 'is no comment of the archive' }]);
  return comment;
}

const TOO_LATE = 'ClickHouse did not answer in time';

/**
 * A query that is given up is ended: those that hang would hold the connections that the archiver shares, and others
 * wait in line for them.
 */
async function inArchive<T>({ deadlineAt }: SearchedArchive, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ms = Math.max(0, Math.ceil(deadlineAt - performance.now()));
  try {
    return await withDeadline(read(AbortSignal.timeout(ms)), ms, TOO_LATE);
  } catch (error) {
    if (!isClickhouseAway(error) && (error as Error).message !== TOO_LATE) throw error;
    throw new ApiError('upstream_error', 'The archive of comments cannot be read.', { retryAfter: 5 });
  }
}

function sinceOf(window: string | undefined, now: number): string | undefined {
  const ms = WINDOW_MS[window ?? 'all'];
  return ms === undefined ? undefined : new Date(now - ms).toISOString();
}
