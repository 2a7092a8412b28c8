import { ClickHouseError } from '@clickhouse/client';
import { selectRows } from '../clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import type { Rule, RuleTerm, SearchedText } from '../matching/rule.ts';
import { searchableWords } from '../matching/searchable-words.ts';
import { authorKey, subredditKey } from '../matching/validate-rule.ts';
import { readContents } from './archived-item.ts';
import type { ArchivedItem, PositionRow } from './archived-item.ts';

/** The position of an item in the archive, which is in the order of (firstSeenAt, thingId). */
export interface ArchivePosition {
  /** ISO 8601 in UTC with milliseconds. */
  firstSeenAt: string;
  thingId: string;
}

export interface CandidateQuery {
  rule: Rule;
  /** Items that may match one of these come too. */
  others?: readonly Rule[] | undefined;
  from: Date;
  /** Exclusive. */
  to: Date;
  order: 'newest' | 'oldest';
  /** The position after which the page begins: an earlier one for newest, a later one for oldest. */
  after?: ArchivePosition | undefined;
  /** At most this many items are read; at least 1, at most MOST_CANDIDATES. */
  limit: number;
  signal: AbortSignal;
  /** `windowMs` of the previous page; pages of frequent words are read faster with it. */
  windowMs?: number | undefined;
}

export interface CandidatePage {
  items: ArchivedItem[];
  /** Where the next page begins; undefined when nothing is left. A page may be empty and have one. */
  next?: ArchivePosition;
  /** How much time, in milliseconds, the next page should look at first. */
  windowMs: number;
}

/** A page of this many items takes some ten megabytes. */
export const MOST_CANDIDATES = 5_000;

/** The window of time in which a page begins to look; each following one is larger while few candidates are found. */
const FIRST_WINDOW_MS = 6 * 3_600_000;
const LEAST_WINDOW_MS = 60_000;
const GROWTH = 4;
/** A page ends early, at the edge of a window, when it takes longer. */
const PAGE_MS = 2_000;
/** The embedded engine goes on when its client gives up. */
const STATEMENT_SECONDS = 4;
/** Code of ClickHouse for a statement that took longer. */
const TOO_SLOW = '159';

/**
 * Reads a page of the items that may match a rule, in the order of (first_seen_at, thing_id), with
 * from ≤ first_seen_at < to: all that do, and some others. `MonitorIndex` or `matchOne` with `matchItemOf` decides.
 * Items that the forum removed are left out. Each item comes once, also when several sources published it: at the
 * position at which the archive keeps it.
 *
 * Reads the positions of the candidates first, by the text indexes, in windows of time; then the content of those.
 *
 * @throws the engine's error, also when a minute of the archive takes longer than a statement may
 */
export async function readArchivedCandidates(
  clickhouse: ClickHouseClient,
  query: CandidateQuery,
): Promise<CandidatePage> {
  const { positions, next, windowMs } = await readPositions(clickhouse, query);
  const items = await readContents(clickhouse, positions, query.signal);
  return { items, windowMs, ...(next && { next }) };
}

/** The positions of the page in order, read window by window. */
async function readPositions(
  clickhouse: ClickHouseClient,
  query: CandidateQuery,
): Promise<{ positions: PositionRow[]; next: ArchivePosition | undefined; windowMs: number }> {
  const { order, after, limit, signal } = query;
  const condition = [query.rule, ...(query.others ?? [])].map(narrowRule).join('\n    OR ');
  const endsAt = performance.now() + PAGE_MS;
  const positions: PositionRow[] = [];
  let [from, to] = [query.from.getTime(), query.to.getTime()];
  if (after !== undefined && order === 'newest') to = Math.min(to, Date.parse(after.firstSeenAt) + 1);
  if (after !== undefined && order === 'oldest') from = Math.max(from, Date.parse(after.firstSeenAt));
  let windowMs = query.windowMs ?? FIRST_WINDOW_MS;
  while (from < to) {
    signal.throwIfAborted();
    const window =
      order === 'newest' ? { from: Math.max(from, to - windowMs), to } : { from, to: Math.min(to, from + windowMs) };
    const wanted = limit - positions.length;
    let found: PositionRow[];
    try {
      found = await readWindow(clickhouse, { ...query, ...window, condition, limit: wanted });
    } catch (error) {
      const isSlow = error instanceof ClickHouseError && error.code === TOO_SLOW;
      if (!isSlow || windowMs <= LEAST_WINDOW_MS) throw error;
      windowMs = Math.max(LEAST_WINDOW_MS, Math.floor(windowMs / GROWTH));
      continue;
    }
    positions.push(...found);
    const last = found.at(-1);
    if (last !== undefined && found.length === wanted) {
      const coveredMs = Math.abs(last.firstSeenAtMs - (order === 'newest' ? to : from));
      return { positions, next: positionOf(last), windowMs: Math.max(LEAST_WINDOW_MS, 2 * coveredMs) };
    }
    if (order === 'newest') to = window.from;
    else from = window.to;
    if (found.length < wanted / GROWTH) windowMs *= GROWTH;
    if (from < to && performance.now() > endsAt) {
      return { positions, next: order === 'newest' ? beforeAll(to) : afterAll(from), windowMs };
    }
  }
  return { positions, next: undefined, windowMs };
}

function positionOf({ thingId, firstSeenAtMs }: PositionRow): ArchivePosition {
  return { firstSeenAt: new Date(firstSeenAtMs).toISOString(), thingId };
}

/** The position before all items of a millisecond, and the one after all items of the millisecond before it. */
const beforeAll = (ms: number): ArchivePosition => ({ firstSeenAt: new Date(ms).toISOString(), thingId: '' });
const afterAll = (ms: number): ArchivePosition => ({ firstSeenAt: new Date(ms - 1).toISOString(), thingId: '~' });

interface WindowQuery extends Omit<CandidateQuery, 'from' | 'to'> {
  /** Milliseconds since the epoch; `to` is exclusive. */
  from: number;
  to: number;
  condition: string;
}

async function readWindow(
  clickhouse: ClickHouseClient,
  { from, to, order, after, condition, limit, signal }: WindowQuery,
): Promise<PositionRow[]> {
  const [comparison, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC'];
  return selectRows<PositionRow>(
    clickhouse,
    `SELECT thing_id AS thingId, toUnixTimestamp64Milli(first_seen_at) AS firstSeenAtMs
  FROM items
 WHERE first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
   AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
   AND first_seen_at > now64(3) - INTERVAL 30 DAY
   AND ver = 1
   AND (${condition})
   ${after === undefined ? '' : `AND (first_seen_at, thing_id) ${comparison} (fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC'), {after_id: String})`}
 ORDER BY first_seen_at ${direction}, thing_id ${direction}
 LIMIT 1 BY thing_id, first_seen_at
 LIMIT {limit: UInt32}`,
    {
      from,
      to,
      after_ms: after === undefined ? 0 : Date.parse(after.firstSeenAt),
      after_id: after?.thingId ?? '',
      limit,
    },
    { seconds: STATEMENT_SECONDS, signal },
  );
}

/** The columns of items that hold words, separated by spaces. */
const WORDS = 'words';
const POST_TITLE_WORDS = 'post_title_words';
/** Stands in post_title_words for words that were not archived (schemas/clickhouse/0001_schema.sql). */
const UNKNOWN_WORDS = '?';
const USUAL_TEXTS: readonly SearchedText[] = ['title', 'body'];
/** True of every item. */
const EVERYTHING = 'true';

/**
 * The condition in SQL that every item satisfies which the rule matches; others may satisfy it too. It only uses the
 * words that the archiver wrote, which are those of matching, and comparisons that are at least as wide as matching's.
 * Excluded terms and names never narrow: an item that they reject must not be missed when they change.
 *
 * It belongs into WHERE of a SELECT from items: there the engine cuts the columns as their text indexes do. Elsewhere
 * it would cut words at other characters.
 */
function narrowRule(rule: Rule): string {
  const { keywords, terms = [], require = [], matchIn } = rule;
  const usual = textsOf(matchIn, USUAL_TEXTS);
  const groups = [[...keywords, ...terms], ...require];
  const conditions = [...filterConditions(rule), ...groups.map((group) => groupCondition(group, usual))];
  const narrowing = conditions.filter((condition) => condition !== EVERYTHING);
  return narrowing.length === 0 ? EVERYTHING : narrowing.join('\n   AND ');
}

/** An absent or empty list means the usual ones. */
function textsOf(given: readonly SearchedText[] | undefined, usual: readonly SearchedText[]): readonly SearchedText[] {
  return given === undefined || given.length === 0 ? usual : given;
}

/** The condition that an item with one of the terms satisfies. */
function groupCondition(group: readonly (string | RuleTerm)[], usual: readonly SearchedText[]): string {
  if (group.length === 0) return EVERYTHING;
  const wanted = new Map<string, WantedWords>();
  for (const term of group) {
    const { text, prefix = false, in: texts }: RuleTerm = typeof term === 'string' ? { text: term } : term;
    const words = searchableWords(text).map((word) => word.toWellFormed());
    if (words.length === 0) return EVERYTHING;
    for (const column of columnsOf(textsOf(texts, usual))) {
      let inColumn = wanted.get(column);
      if (inColumn === undefined) wanted.set(column, (inColumn = new WantedWords(column)));
      inColumn.add(words, prefix);
    }
  }
  return `(${[...wanted.values()].flatMap((words) => words.conditions()).join('\n        OR ')})`;
}

function columnsOf(texts: readonly SearchedText[]): string[] {
  const columns = [];
  if (texts.some((text) => text !== 'post_title')) columns.push(WORDS);
  if (texts.includes('post_title')) columns.push(POST_TITLE_WORDS);
  return columns;
}

/** The words of a group's terms that are looked for in one column. */
class WantedWords {
  readonly #column: string;
  readonly #single = new Set<string>();
  readonly #several = new Set<string>();
  readonly #prefixes = new Set<string>();

  constructor(column: string) {
    this.#column = column;
    if (column === POST_TITLE_WORDS) this.#single.add(UNKNOWN_WORDS);
  }

  /** @param words of a term; an item must have all of them, or for a prefix one that begins with the only one */
  add(words: readonly string[], prefix: boolean): void {
    if (prefix && words.length === 1) this.#prefixes.add(words[0] ?? '');
    else if (words.length === 1) this.#single.add(words[0] ?? '');
    else this.#several.add(sqlStrings(words));
  }

  /** Conditions of which an item satisfies one. */
  conditions(): string[] {
    const column = this.#column;
    return [
      ...(this.#single.size > 0 ? [`hasAnyTokens(${column}, ${sqlStrings([...this.#single])})`] : []),
      ...[...this.#several].map((words) => `hasAllTokens(${column}, ${words})`),
      ...[...this.#prefixes].map((prefix) => `position(' ' || ${column}, ${sqlString(` ${prefix}`)}) > 0`),
    ];
  }
}

function filterConditions({ posts, comments, nsfw, subreddits, authors = [], languages = [] }: Rule): string[] {
  return [
    ...(posts && comments ? [] : [`kind = ${posts ? `'post'` : comments ? `'comment'` : `''`}`]),
    ...(nsfw ? [] : ['NOT nsfw']),
    ...(subreddits.length === 0 ? [] : [nameCondition('subreddit', subreddits.map(subredditKey))]),
    ...(authors.length === 0 ? [] : [nameCondition('author', authors.map(authorKey))]),
    ...(languages.length === 0 ? [] : [languageCondition(languages)]),
  ];
}

/** Unusual names, such as those in other alphabets, fold differently in SQL, so they are left to matching. */
function nameCondition(column: string, keys: readonly string[]): string {
  return `(lower(${column}) IN ${sqlStrings(keys)} OR NOT match(${column}, '^[A-Za-z0-9_-]*$'))`;
}

/** Items that were archived before languages were have none, which matching reads as undecided. */
function languageCondition(languages: readonly string[]): string {
  return `language IN ${sqlStrings(languages.includes('und') ? [...languages, ''] : languages)}`;
}

function sqlStrings(texts: readonly string[]): string {
  return `[${texts.map(sqlString).join(', ')}]`;
}

/** A literal in the statement, because many words would be too long for the address of a request. */
function sqlString(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
