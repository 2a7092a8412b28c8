import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { CrawlGap, GapClosing } from '../../shared/crawl/crawl-gaps.ts';
import { loadLanguageDetector } from '../../shared/crawl/load-language-detector.ts';
import type { LanguageDetector } from '../../shared/crawl/load-language-detector.ts';
import type { Upstream } from '../../shared/forum-client/upstream-client.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import { takeLeases } from '../../shared/maintenance/leases.ts';
import type { WantedLease } from '../../shared/maintenance/leases.ts';
import { withQueryDeadline } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import { CallBatcher } from '../../shared/runtime/call-batcher.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ConfigError } from '../../shared/runtime/config.ts';
import { SOURCE_NAMES } from '../../shared/runtime/environment.ts';
import { toError } from '../../shared/runtime/errors.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Tracing } from '../../shared/runtime/tracing.ts';
import { CommunityCounts, CommunityCountsWriter } from './community-counts.ts';
import { AuditSource } from './coverage/audit-source.ts';
import type { CrawlSource } from './crawl-source.ts';
import { FailureLog } from './failure-log.ts';
import { GroupSource, SLICES } from './groups/group-source.ts';
import { ItemPublisher, PostLookup } from './item-publisher.ts';
import { ALL_COMMENTS, ListingSource, POSTS } from './listing-source.ts';
import type { ListingPlan } from './listing-source.ts';
import { GroupBudget, Pace } from './pace.ts';
import { COMMENT_IDS, POST_IDS, PostIdSource } from './post-ids/post-id-source.ts';
import type { IdPlan } from './post-ids/post-id-source.ts';
import { RecheckSource } from './recheck-source.ts';
import { parseReplayPlan, REPLAY } from './replay/replay-plan.ts';
import type { ReplayPlan } from './replay/replay-plan.ts';
import { ReplaySource, ReplayThrottle } from './replay/replay-source.ts';
import { RecentPosts, SeenItems } from './seen-items.ts';
import { SourceRunner } from './source-runner.ts';
import type { RunnerDeps } from './source-runner.ts';
import { SourceShares } from './source-shares.ts';
import { ThreadSource } from './threads/thread-source.ts';
import type { ThreadSourceDeps } from './threads/thread-source.ts';

/**
 * 100 MB at most, and at least 39 minutes of the whole site at its peaks: the slowest groups of communities are read
 * every 40 minutes, and what they show is published again when it is not known.
 */
const SEEN_ITEMS = 1_400_000;
/** An hour of new posts; older ones are fetched when a comment needs them. */
const RECENT_POSTS = 50_000;
/** A statement that takes longer counts as an outage of Postgres. */
const QUERY_DEADLINE_MS = 5_000;

/** Failed calls to the forum and to ClickHouse. */
const FAILURES = {
  begins: 'calls to the forum fail; the affected sources back off',
  lasts: 'calls to the forum still fail',
  ends: 'the calls of all sources are successful again',
};
const OUTAGES = {
  begins: 'Postgres does not answer; the crawl continues and keeps cursors and gaps in memory',
  lasts: 'Postgres still does not answer',
  ends: 'Postgres answers again; cursors and gaps are written',
};

export interface CrawlerDeps {
  upstream: Upstream;
  publisher: Pick<Publisher, 'publishAll'>;
  pool: Pool;
  /**
   * Reports what other crawler processes publish. Used only while there are any. Undefined: what another process
   * publishes may be published again.
   */
  listenForItems?: (onItem: (name: string) => void) => Running;
  /** ClickHouse, which `threads` needs. `ready`: its schema is up to date; false when the process stops before. */
  archive?: { clickhouse: ClickHouseClient; ready: Promise<boolean> } | undefined;
  /** The names in CRAWL_SOURCES. */
  sources: readonly string[];
  /** The URL of the public site, without a trailing slash. */
  siteUrl: string;
  /** Throttles replays: they pause while the matcher is more than `max` records behind. Undefined: they never pause. */
  replayLag?: { read: () => Promise<number>; max: number };
  /** False while nothing may be crawled, because a disk is almost full; default: always true. */
  mayCall?: () => boolean;
  /** Times of the sources that compare the forum with the archive, for tests. */
  sweepTimes?: SweepTimes | undefined;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  tracing?: Tracing | undefined;
  /** Returns a number in [0, 1), for jitter. */
  random?: () => number;
  /** Called once for an unexpected error; the process must end. */
  fatal: (error: Error) => void;
}

/**
 * Starts every named source, each in its own loop with its own lease. Returns once the language detector is loaded.
 * `ready` is true once each source has finished its first call or is on standby; it does not wait for sources that
 * need ClickHouse.
 *
 * @throws ConfigError when a source is unknown or a replay file cannot be read.
 */
export async function startCrawler(deps: CrawlerDeps): Promise<Running & { ready(): boolean }> {
  const logger = deps.logger.child({ service: 'crawler' });
  const stopping = new AbortController();
  const plans = planSources(deps.sources);
  const detectLanguage = await loadLanguageDetector();
  const { runners, shares, live, counts } = createRunners({ ...deps, logger, detectLanguage }, plans);
  const loops = [shares, counts, ...runners].map(async (loop) => {
    try {
      await loop.run(stopping.signal);
    } catch (error) {
      deps.fatal(toError(error));
    }
  });
  return {
    ready: () => live.every((runner) => runner.ready()),
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

function createRunners(
  deps: CrawlerDeps & { detectLanguage: LanguageDetector },
  plans: readonly SourcePlan[],
): { runners: SourceRunner[]; live: SourceRunner[]; shares: SourceShares; counts: CommunityCountsWriter } {
  const posts = new RecentPosts(RECENT_POSTS);
  const lookup = new PostLookup(deps.upstream, posts, deps.logger);
  const seen = new SeenItems(SEEN_ITEMS);
  const counts = new CommunityCounts();
  const items = new ItemPublisher({ ...deps, lookup, posts, seen, counts });
  const pace = new Pace(() => deps.upstream.perSecond('live'));
  const groups = new GroupBudget(() => deps.upstream.perSecond('groups'));
  const state = createState(deps);
  const { db } = state;
  const byName = new Map<string, SourceRunner>();
  const archive = openArchive(deps);
  const sources = plans.map((plan) => {
    const recordGap = (gap: CrawlGap): void => byName.get(source.name)?.recordGap(gap);
    const closeGap = (closing: GapClosing): void => byName.get(source.name)?.closeGap(closing);
    const source = createSource(plan, { ...deps, ...state, pace, groups, recordGap, closeGap, archive });
    return source;
  });
  const shares = new SourceShares({
    ...deps,
    ...state,
    sources: sources.map(({ name }) => name),
    listen: () => deps.listenForItems?.((name) => seen.add(name)),
  });
  const runners = sources.map((source) => {
    const runner = new SourceRunner(source, { ...deps, ...state, items, shares, random: deps.random ?? Math.random });
    byName.set(source.name, runner);
    return runner;
  });
  const live = runners.filter((_, index) => !isSweep(sources[index]!));
  return { runners, live, shares, counts: new CommunityCountsWriter({ db, counts, logger: deps.logger }) };
}

/** What all sources use to keep their state in Postgres and to report what fails. */
function createState({
  pool,
  logger,
  clock,
}: CrawlerDeps): Omit<RunnerDeps, 'items' | 'shares' | 'metrics' | 'random'> {
  const db = withQueryDeadline(pool, QUERY_DEADLINE_MS);
  // All leases in one statement: with one each, slow answers would take all connections.
  const run = (wanted: readonly WantedLease[]): Promise<boolean[]> => takeLeases(db, wanted);
  const leases = new CallBatcher<WantedLease, boolean>({ run, maxRunning: 4, isShared: isPostgresUnavailable });
  return {
    db,
    holder: `${hostname()}:${process.pid}:${randomUUID()}`,
    takeLease: (lease) => leases.call(lease),
    failures: new FailureLog(FAILURES, { logger, clock }),
    outages: new FailureLog(OUTAGES, { logger, clock }),
    logger,
    clock,
  };
}

/** Tells the sources whether ClickHouse's schema is up to date, without making them wait for it. */
function openArchive({ archive }: CrawlerDeps): Archive | undefined {
  if (archive === undefined) return undefined;
  const opened: Archive = { clickhouse: archive.clickhouse, isReady: false };
  void archive.ready.then((isReady) => {
    opened.isReady = isReady;
  });
  return opened;
}

type SourceDeps = Omit<CrawlerDeps, 'archive'> & {
  archive: Archive | undefined;
  db: Queryable;
  holder: string;
  outages: RunnerDeps['outages'];
  pace: Pace;
  groups: GroupBudget;
  recordGap: (gap: CrawlGap) => void;
  closeGap: (closing: GapClosing) => void;
};

function createSource(plan: SourcePlan, deps: SourceDeps): CrawlSource {
  switch (plan.kind) {
    case 'ids':
      return new PostIdSource(plan.ids, deps);
    case 'listing':
      return new ListingSource(plan.listing, deps);
    case 'sweep':
      if (deps.archive === undefined) throw new ConfigError(`CRAWL_SOURCES: ${plan.sweep} needs ClickHouse`);
      return createSweep(plan.sweep, { ...deps, archive: deps.archive });
    case 'groups':
      return new GroupSource(plan.slice, { ...deps, budget: deps.groups });
    case 'replay':
      return new ReplaySource(plan.replay, { ...deps, throttle: createThrottle(deps) });
  }
}

function createThrottle({
  replayLag,
  logger,
  clock,
}: Pick<CrawlerDeps, 'replayLag' | 'logger' | 'clock'>): ReplayThrottle | undefined {
  if (replayLag === undefined) return undefined;
  return new ReplayThrottle({ lag: replayLag.read, maxLag: replayLag.max, logger, clock });
}

interface Archive {
  clickhouse: ClickHouseClient;
  isReady: boolean;
}

/** In milliseconds. Without them the defaults of the classes hold. */
interface SweepTimes {
  /** The least time between two checks of the comment count of a post. */
  checkEveryMs?: number;
  recheckAgesMs?: readonly number[];
  /** The lengths of the audit's windows. */
  auditStepsMs?: readonly number[];
}

type SweepName = Extract<SourcePlan, { kind: 'sweep' }>['sweep'];

type SweepDeps = Omit<ThreadSourceDeps, 'clickhouse' | 'isArchiveReady' | 'checkEveryMs'> & {
  archive: Archive;
  publisher: Pick<Publisher, 'publishAll'>;
  sweepTimes?: SweepTimes | undefined;
};

/** Creates a source that compares the forum with the archive. It waits while ClickHouse is unavailable. */
function createSweep(name: SweepName, deps: SweepDeps): CrawlSource {
  const { archive, sweepTimes = {} } = deps;
  const withArchive = { ...deps, clickhouse: archive.clickhouse, isArchiveReady: () => archive.isReady };
  const sweeps = {
    threads: () => new ThreadSource({ ...withArchive, checkEveryMs: sweepTimes.checkEveryMs }),
    rechecks: () => new RecheckSource({ ...withArchive, agesMs: sweepTimes.recheckAgesMs }),
    audit: () => new AuditSource({ ...withArchive, stepsMs: sweepTimes.auditStepsMs }),
  };
  return sweeps[name]();
}

/** Whether the service is ready without this source. */
function isSweep(source: CrawlSource): boolean {
  return source instanceof ThreadSource || source instanceof RecheckSource || source instanceof AuditSource;
}

/** The sources that `threads` starts: they compare the forum with the archive. */
const SWEEPS = ['threads', 'rechecks', 'audit'] as const;

const GROUPS = Array.from({ length: SLICES }, (_, slice): SourcePlan => ({ kind: 'groups', slice }));

export type SourcePlan =
  | { kind: 'ids'; ids: IdPlan }
  | { kind: 'listing'; listing: ListingPlan }
  | { kind: 'sweep'; sweep: (typeof SWEEPS)[number] }
  | { kind: 'groups'; slice: number }
  | { kind: 'replay'; replay: ReplayPlan };

/**
 * Parses CRAWL_SOURCES into the sources to start. Repeated names count once.
 *
 * @throws ConfigError for an unknown source, or a replay file that cannot be read.
 */
export function planSources(names: readonly string[]): SourcePlan[] {
  const listings = names.includes('post-ids') ? [ALL_COMMENTS] : [ALL_COMMENTS, POSTS];
  const plans: Record<(typeof SOURCE_NAMES)[number], SourcePlan[]> = {
    'post-ids': [{ kind: 'ids', ids: POST_IDS }],
    'comment-ids': [{ kind: 'ids', ids: COMMENT_IDS }],
    listings: [...listings.map((listing) => ({ kind: 'listing' as const, listing })), ...GROUPS],
    threads: SWEEPS.map((sweep) => ({ kind: 'sweep', sweep })),
  };
  return [...new Set(names)].flatMap((name): SourcePlan[] => {
    if (name.startsWith(REPLAY)) return [{ kind: 'replay', replay: parseReplayPlan(name.slice(REPLAY.length)) }];
    const known = SOURCE_NAMES.find((one) => one === name);
    if (known === undefined) {
      throw new ConfigError(`CRAWL_SOURCES: ${name} is unknown; use ${SOURCE_NAMES.join(', ')} or replay:FILE`);
    }
    return plans[known];
  });
}
