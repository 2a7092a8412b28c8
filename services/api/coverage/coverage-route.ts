import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import { coverage, coverageQuery } from '../../../schemas/api/coverage.ts';
import type { Coverage, CoverageGap, CoverageHour, CoverageTotal } from '../../../schemas/api/coverage.ts';
import {
  countGapsByHour,
  countGapsOpenAt,
  readCoverageOf,
  readCoverageTimes,
} from '../../../shared/crawl/crawl-coverage.ts';
import type { HourGaps, ReadCoverage } from '../../../shared/crawl/crawl-coverage.ts';
import { listGaps } from '../../../shared/crawl/crawl-gaps.ts';
import type { ListedGap } from '../../../shared/crawl/crawl-gaps.ts';
import { readForumCalls } from '../../../shared/crawl/forum-calls.ts';
import type { HourCalls } from '../../../shared/crawl/forum-calls.ts';
import {
  combineCompleteness,
  hourCoverage,
  lagQuantiles,
  mergeLags,
  postShare,
} from '../../../shared/crawl/rules/coverage.ts';
import type { HourCoverage, LagHistogram } from '../../../shared/crawl/rules/coverage.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { SingleFlight } from '../../../shared/runtime/single-flight.ts';
import { PacedSemaphore } from '../http/account-slots.ts';
import { invalidRequest } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

const MAX_GAPS = 200;
/** Hours are measured every ten seconds. */
const FRESH_MS = 5_000;
/** A response about 31 days has 0.7 MB. */
const MAX_RESPONSES = 16;

interface CoverageDeps {
  pool: Queryable;
  clock: Clock;
}

/**
 * GET /v1/coverage: what the service saw of the forum in each hour, and what it missed. It is free for every key,
 * so responses are shared and computed one at a time.
 */
export function coverageRoute({ pool, clock }: CoverageDeps): Route {
  const measured = new MeasuredHours(pool);
  const responses = new LRUCache<string, Uint8Array>({ max: MAX_RESPONSES, ttl: FRESH_MS });
  const flights = new SingleFlight<Uint8Array>();
  const semaphore = new PacedSemaphore('coverage');
  return route({
    method: 'get',
    path: '/v1/coverage',
    scope: 'any key',
    operationId: 'getCoverage',
    tag: 'Coverage',
    summary: 'Show what was seen of the forum and what was missed',
    description:
      'Free, with any key. Covers whole UTC hours, one by one and in total; the current hour is updated every few seconds. Items, lags and late items count in the hour in which they were first seen; completeness counts in the hour in which items were created. A gap is a stretch that a source may have missed. The answer has the newest 200 gaps that were open at any time in the range, newest first.',
    query: coverageQuery,
    example: { from: '2026-03-04T10:00:00Z', to: '2026-03-04T11:00:00Z' },
    responses: [ok('The coverage of the range.', coverage)],
    async handle({ query, caller, signal }) {
      const range = coverageRange(query, clock());
      const key = `${range.from} ${range.to}`;
      const compute = async (abandoned: AbortSignal): Promise<Uint8Array> => {
        const answer = await semaphore.run(caller.accountId, () => read(pool, measured, range, clock), abandoned);
        const bytes = Buffer.from(`${JSON.stringify(answer)}\n`);
        responses.set(key, bytes);
        return bytes;
      };
      const body = responses.get(key) ?? (await flights.run(key, compute, signal));
      return { status: 200, body, headers: { 'Content-Type': 'application/json; charset=utf-8' } };
    },
  });
}

async function read(pool: Queryable, measured: MeasuredHours, range: CoverageRange, clock: Clock): Promise<Coverage> {
  const [from, to] = [new Date(range.from), new Date(range.to)];
  const [hours, calls, gapsByHour, openBefore, gaps] = await Promise.all([
    measured.read(from, to),
    readForumCalls(pool, from, to),
    countGapsByHour(pool, from, to),
    countGapsOpenAt(pool, from),
    listGaps(pool, { ...range, limit: MAX_GAPS }),
  ]);
  return coverageAnswer(range, { hours, calls, gapsByHour, openBefore, gaps }, clock());
}

const HOUR_MS = 3_600_000;
const DEFAULT_HOURS = 24;
const MAX_DAYS = 31;
const MAX_HOURS = MAX_DAYS * 24;

/** Whole hours in milliseconds since 1970: from the start of the first until the end of the last. */
interface CoverageRange {
  from: number;
  to: number;
}

/**
 * The whole hours that a query asks for, none after the hour of `now` (milliseconds since 1970).
 *
 * @throws ApiError invalid_request
 */
export function coverageRange(query: z.output<typeof coverageQuery>, now: number): CoverageRange {
  const latest = endOfHour(now);
  const wantedTo = query.to === undefined ? now : Date.parse(query.to);
  const to = Math.min(endOfHour(wantedTo), latest);
  if (query.from === undefined) return { from: to - DEFAULT_HOURS * HOUR_MS, to };
  const wantedFrom = Date.parse(query.from);
  if (wantedFrom >= wantedTo) throw invalidRequest([{ field: 'from', message: 'must be before `to`' }]);
  const from = Math.floor(wantedFrom / HOUR_MS) * HOUR_MS;
  if (from >= latest) throw invalidRequest([{ field: 'from', message: 'must not be in the future' }]);
  if (to - from > MAX_HOURS * HOUR_MS) {
    throw invalidRequest([{ field: 'from', message: `must be at most ${MAX_DAYS} days before \`to\`` }]);
  }
  return { from, to };
}

function endOfHour(time: number): number {
  return Math.ceil(time / HOUR_MS) * HOUR_MS;
}

export interface StoredRange {
  hours: readonly MeasuredHour[];
  calls: readonly HourCalls[];
  gapsByHour: readonly HourGaps[];
  /** Gaps that were open when the range began. */
  openBefore: number;
  /** The newest gaps of the range. */
  gaps: readonly ListedGap[];
}

interface Hour {
  at: number;
  /** An hour of a version that cannot be read counts as not measured; the rollup computes recent ones anew. */
  stored: MeasuredHour | undefined;
  calls: readonly HourCalls[];
  gaps: CoverageTotal['gaps'];
  /** The part of the hour that is over by now. */
  elapsed: number;
}

/** Builds the response of GET /v1/coverage. `now` in milliseconds since 1970. */
export function coverageAnswer(range: CoverageRange, stored: StoredRange, now: number): Coverage {
  const hours = hoursOf(range, stored, now);
  const iso = (time: number): string => new Date(time).toISOString();
  return {
    from: iso(range.from),
    to: iso(range.to),
    hours: hours.map((hour): CoverageHour => ({
      hour: iso(hour.at),
      measured_at: hour.stored?.computedAt.toISOString() ?? null,
      ...figuresOf([hour]),
    })),
    total: figuresOf(hours),
    gaps: stored.gaps.map(gapOf),
    gap_count: stored.openBefore + hours.reduce((sum, { gaps }) => sum + gaps.opened, 0),
  };
}

function hoursOf({ from, to }: CoverageRange, stored: StoredRange, now: number): Hour[] {
  const rows = new Map(stored.hours.map((row) => [row.hour.getTime(), row]));
  const calls = Map.groupBy(stored.calls, ({ hour }) => hour.getTime());
  const gaps = new Map(stored.gapsByHour.map((counts) => [counts.hour.getTime(), counts]));
  const hours: Hour[] = [];
  let open = stored.openBefore;
  for (let at = from; at < to; at += HOUR_MS) {
    const { opened, closed } = gaps.get(at) ?? { opened: 0, closed: 0 };
    open = Math.max(0, open + opened - closed);
    hours.push({
      at,
      stored: rows.get(at),
      calls: calls.get(at) ?? [],
      gaps: { opened, closed, open },
      elapsed: Math.min(1, Math.max(0, (now - at) / HOUR_MS)),
    });
  }
  return hours;
}

/** The figures of some hours together, oldest first; at least one. */
function figuresOf(hours: readonly Hour[]): CoverageTotal {
  const known = hours.flatMap(({ stored }) => (stored === undefined ? [] : [stored.coverage]));
  return {
    seen: seenIn(known),
    late: sum(known, ({ late }) => late),
    tombstones: sum(known, ({ tombstones }) => tombstones),
    completeness: { posts: postsIn(known), comments: commentsIn(known) },
    lag_seconds: lagsIn(hours),
    gaps: {
      opened: sum(hours, ({ gaps }) => gaps.opened),
      closed: sum(hours, ({ gaps }) => gaps.closed),
      open: hours.at(-1)?.gaps.open ?? 0,
    },
    budget: budgetOf(hours),
  };
}

function seenIn(known: readonly HourCoverage[]): CoverageTotal['seen'] {
  const bySource: Record<string, { posts: number; comments: number }> = {};
  for (const { seen } of known) {
    for (const [source, { posts, comments }] of Object.entries(seen)) {
      const counts = (bySource[source] ??= { posts: 0, comments: 0 });
      counts.posts += posts;
      counts.comments += comments;
    }
  }
  const counts = Object.values(bySource);
  return {
    posts: sum(counts, ({ posts }) => posts),
    comments: sum(counts, ({ comments }) => comments),
    by_source: bySource,
  };
}

function postsIn(known: readonly HourCoverage[]): CoverageTotal['completeness']['posts'] {
  const hours = known.flatMap(({ posts }) => posts ?? []);
  const posts = { found: sum(hours, ({ found }) => found), unread: sum(hours, ({ unread }) => unread) };
  const share = postShare(posts);
  return share === undefined ? null : { share, ...posts };
}

function commentsIn(known: readonly HourCoverage[]): CoverageTotal['completeness']['comments'] {
  const hours = known.flatMap(({ comments }) => comments ?? []);
  const combined = combineCompleteness(hours);
  return combined === undefined ? null : { ...combined, threads: sum(hours, ({ threads }) => threads) };
}

function lagsIn(hours: readonly Hour[]): CoverageTotal['lag_seconds'] {
  const known = hours.flatMap(({ stored }) => stored ?? []);
  const [only] = known;
  if (known.length === 1 && only !== undefined) return only.lags;
  return lagsOf(mergeLags(known.map(({ coverage }) => coverage.lags)));
}

/** `allowed` is null unless it is known of every hour in which calls were made. */
function budgetOf(hours: readonly Hour[]): CoverageTotal['budget'] {
  const byLane: Record<string, { used: number; refused: number }> = {};
  for (const { lane, taken, refused } of hours.flatMap(({ calls }) => calls)) {
    const counts = (byLane[lane] ??= { used: 0, refused: 0 });
    counts.used += taken;
    counts.refused += refused;
  }
  const used = hours.filter(({ stored, calls }) => calls.length > 0 || (stored?.callsPerSecond ?? null) !== null);
  const allowed = used.map(({ stored, elapsed }) =>
    stored === undefined || stored.callsPerSecond === null ? undefined : stored.callsPerSecond * 3_600 * elapsed,
  );
  const isKnown = allowed.length > 0 && !allowed.includes(undefined);
  return {
    allowed: isKnown ? Math.round(sum(allowed, (calls) => calls ?? 0)) : null,
    used: sum(Object.values(byLane), (counts) => counts.used),
    by_lane: byLane,
  };
}

function gapOf(gap: ListedGap): CoverageGap {
  const iso = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString());
  return {
    id: String(gap.id),
    source: gap.source,
    reason: gap.reason,
    opened_at: new Date(gap.openedAt).toISOString(),
    closed_at: iso(gap.closedAt),
    outcome: gap.outcome ?? null,
    created_from: iso(gap.afterAt),
    created_to: iso(gap.beforeAt),
    after: gap.afterThing ?? null,
    before: gap.beforeThing ?? null,
    found: gap.found,
  };
}

function sum<T>(values: readonly T[], numberOf: (value: T) => number): number {
  return values.reduce((total, value) => total + numberOf(value), 0);
}

/** Somewhat more than the longest range, about 10 KB each. */
const KEPT_HOURS = 1_000;

/** Seconds. */
export interface Lags {
  p50: number;
  p95: number;
  p99: number;
}

export interface MeasuredHour {
  hour: Date;
  computedAt: Date;
  /** Calls a second that the forum allowed; null when that was not known. */
  callsPerSecond: number | null;
  coverage: HourCoverage;
  /** Null without any lag. */
  lags: Lags | null;
}

interface Kept {
  computedAt: number;
  /** Undefined for an hour of a version that cannot be read. */
  measured: MeasuredHour | undefined;
}

/**
 * Reads stored hours. A response for 31 days has 744 of them, of which only the latest change, so each is kept until it
 * is stored again: reading them all took 0.2 s of the database, and parsing them as much of the only thread.
 */
class MeasuredHours {
  private readonly pool: Queryable;
  private readonly kept = new LRUCache<number, Kept>({ max: KEPT_HOURS });

  constructor(pool: Queryable) {
    this.pool = pool;
  }

  /** The stored hours that begin in [from, to) and can be read, oldest first. */
  async read(from: Date, to: Date): Promise<MeasuredHour[]> {
    const stored = await readCoverageTimes(this.pool, from, to);
    const found = new Map(
      stored.flatMap(({ hour, computedAt }): [number, Kept][] => {
        const kept = this.kept.get(hour.getTime());
        return kept?.computedAt === computedAt.getTime() ? [[hour.getTime(), kept]] : [];
      }),
    );
    const changed = stored.filter(({ hour }) => !found.has(hour.getTime())).map(({ hour }) => hour);
    const read = changed.length === 0 ? [] : await readCoverageOf(this.pool, changed);
    for (const row of read)
      found.set(row.hour.getTime(), { computedAt: row.computedAt.getTime(), measured: measure(row) });
    for (const [at, kept] of found) this.kept.set(at, kept);
    return stored.flatMap(({ hour }) => found.get(hour.getTime())?.measured ?? []);
  }
}

export function measure(stored: Omit<ReadCoverage, 'archivedRows'>): MeasuredHour | undefined {
  const { hour, computedAt, callsPerSecond } = stored;
  const { data: coverage } = hourCoverage.safeParse(stored.coverage);
  return coverage && { hour, computedAt, callsPerSecond, coverage, lags: lagsOf(coverage.lags) };
}

/** The quantiles that a response shows, to three digits; null without any lag. */
function lagsOf(histogram: LagHistogram): Lags | null {
  const quantiles = lagQuantiles(histogram, [0.5, 0.95, 0.99]);
  if (quantiles === undefined) return null;
  const [p50, p95, p99] = quantiles.map((seconds) => Number(seconds.toPrecision(3))) as [number, number, number];
  return { p50, p95, p99 };
}
