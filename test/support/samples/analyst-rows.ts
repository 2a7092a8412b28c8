import type { DeliveryAttempt } from '../../../schemas/messages/delivery-attempt.ts';
import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { RecordedMatch } from '../../../schemas/messages/recorded-match.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { commentItem } from './forum-items.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const MONITORS = ['mon_7n3k0v9xq2ma', 'mon_7n3k0v9xq2mb'] as const;
const HOSTS = ['good.example.com', 'slow.example.com', 'bad.example.com'];
const MATCHES = 60;
/** The number of the match whose thing was removed by the forum. */
const REMOVED = 7;
/** The number of the match whose thing was never archived. */
const UNKNOWN = 11;

/** The rows that the other stages published for the archiver. */
export interface PublishedRows {
  matches: RecordedMatch[];
  attempts: DeliveryAttempt[];
  /** The items of the matches, except one that was never seen. */
  items: ForumItem[];
  removed: RecordedMatch;
  unknown: RecordedMatch;
  coverage: CoverageRow[];
  gaps: GapRow[];
}

/** A row of crawl_gaps; the others of its columns have their defaults. */
export interface GapRow {
  gap_id: number;
  source: string;
  reason: string;
  /** ISO 8601. */
  opened_at: string;
  closed_at: string | null;
  outcome: string;
  found: number;
}

/** An hour's row of coverage_hours; the others of its columns have their defaults. */
export interface CoverageRow {
  /** ISO 8601. */
  hour: string;
  posts: number;
  comments: number;
  late: number;
  comment_completeness: number | null;
  comment_completeness_low: number | null;
  comment_completeness_high: number | null;
  audited_threads: number;
}

/** 60 matches of two monitors over 30 days before `now` and beyond, with one to three attempts each. */
export function makePublishedRows(now: number): PublishedRows {
  const all = Array.from({ length: MATCHES }, (_, number) => itemOf(number, now));
  const matches = all.map((item, number) => matchOf(item, number, now));
  return {
    matches,
    attempts: matches.flatMap(attemptsOf),
    items: all.filter((_, number) => number !== UNKNOWN),
    removed: matches[REMOVED]!,
    unknown: matches[UNKNOWN]!,
    coverage: Array.from({ length: 80 }, (_, number) => coverageOf(number, now)),
    gaps: Array.from({ length: 12 }, (_, number) => gapOf(number, now)),
  };
}

/** One a day, the last of which is open; later ones took longer. */
function gapOf(number: number, now: number): GapRow {
  const openedAt = now - number * DAY - MINUTE;
  const isOpen = number === 0;
  return {
    gap_id: 100 - number,
    source: number % 2 === 0 ? 'listings:new' : 'post-ids',
    reason: 'overflow',
    opened_at: iso(openedAt),
    closed_at: isOpen ? null : iso(openedAt + number * MINUTE),
    outcome: isOpen ? '' : 'filled',
    found: number,
  };
}

/** Every fourth hour was not audited. */
function coverageOf(number: number, now: number): CoverageRow {
  const isAudited = number % 4 !== 0;
  return {
    hour: iso(Math.floor(now / HOUR) * HOUR - number * HOUR),
    posts: 100 + number,
    comments: 1_000 + number,
    late: number % 7,
    comment_completeness: isAudited ? 0.98 : null,
    comment_completeness_low: isAudited ? 0.97 : null,
    comment_completeness_high: isAudited ? 0.99 : null,
    audited_threads: isAudited ? number : 0,
  };
}

function createdAt(number: number, now: number): number {
  return now - (number < 30 ? number * 40 * MINUTE : (number - 28) * DAY);
}

function itemOf(number: number, now: number): ForumItem {
  return {
    ...commentItem(number, `text ${number}`),
    author: `author${number % 4}`,
    subreddit: ['metals', 'metals', 'metals', 'coffee', 'coffee', 'boats', 'boats'][number % 7]!,
    source: number % 3 === 0 ? 'threads' : 'listings',
    ...[{}, { language: 'de' }, { language: 'und' }][number % 3],
    // First seen 0 to 160 s after their creation: every fifth is late.
    created_utc: iso(createdAt(number, now) - 2_000 - (number % 5) * 40_000),
    first_seen_at: iso(createdAt(number, now) - 2_000),
  };
}

function matchOf(item: ForumItem, number: number, now: number): RecordedMatch {
  const {
    v: _v,
    source: _s,
    replay: _r,
    first_seen_at,
    score: _p,
    num_comments: _n,
    url: _u,
    language: _l,
    ...content
  } = item;
  const [monitor, seq] = [MONITORS[number % 2]!, MATCHES - Math.floor(number / 2)];
  return {
    v: 1,
    match_id: matchId(monitor, seq),
    monitor_id: monitor,
    seq,
    matched_terms: [['rust', '咖啡'], ['rust'], ['iron ore']][number % 3]!,
    suppressed: number % 10 === 9,
    ...(number % 20 === 9 ? { suppressed_reason: 'thread_once' as const } : {}),
    ...(number % 7 === 3 ? { backfill: true as const } : {}),
    first_delivery: 'pending',
    entered_at: iso(createdAt(number, now) - 1_000),
    created_at: iso(createdAt(number, now)),
    first_seen_at,
    item: content,
  };
}

/** bad.example.com rejects all attempts, the others accept them, and every fourth match was sent again. */
function attemptsOf(match: RecordedMatch, number: number): DeliveryAttempt[] {
  const host = HOSTS[number % 3]!;
  const tries = host === 'bad.example.com' ? 3 : number % 4 === 0 ? 2 : 1;
  return Array.from({ length: tries }, (_, index) => {
    const attempt = index + 1;
    const startedAt = Date.parse(match.created_at) + attempt * 100 + number;
    const outcome = host === 'bad.example.com' ? failure(attempt, tries) : SUCCESS;
    return attemptOf(match, { host, attempt, startedAt, durationMs: 10 + ((number * 37 + attempt) % 200), ...outcome });
  });
}

type Outcome = Pick<DeliveryAttempt, 'status' | 'error' | 'delivery_status'>;

export const SUCCESS: Outcome = { status: 204, error: null, delivery_status: 'delivered' };

function failure(attempt: number, tries: number): Outcome {
  return {
    status: 500 + attempt,
    error: `fault ${attempt}`,
    delivery_status: attempt === tries ? 'failed' : 'pending',
  };
}

/** An attempt to deliver a match. */
export function attemptOf(
  match: Pick<RecordedMatch, 'monitor_id' | 'seq' | 'match_id'>,
  made: Outcome & { host: string; attempt: number; startedAt: number; durationMs: number },
): DeliveryAttempt {
  const { startedAt, durationMs, ...columns } = made;
  return {
    v: 1,
    monitor_id: match.monitor_id,
    seq: match.seq,
    match_id: match.match_id,
    started_at: iso(startedAt),
    duration_ms: durationMs,
    webhook_kind: made.host === 'slow.example.com' ? 'slack' : 'generic',
    next_attempt_at: null,
    ...columns,
  };
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}

/** As ClickHouse prints it. */
export function wire(time: string): string {
  return time.replace('T', ' ').replace('Z', '');
}
