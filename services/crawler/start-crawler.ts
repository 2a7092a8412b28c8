import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { withQueryDeadline } from '../../shared/postgres/query-deadline.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { toError } from '../../shared/runtime/errors.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { CrawlGap } from '../../shared/stores/crawl/crawl-gaps.ts';
import type { Upstream } from '../../shared/upstream/upstream-client.ts';
import type { CrawlSource } from './crawl-source.ts';
import { ItemPublisher } from './item-publisher.ts';
import { ListingSource } from './listings/listing-source.ts';
import { Pace } from './pace.ts';
import type { SourcePlan } from './plan-sources.ts';
import { planSources } from './plan-sources.ts';
import { PostIdSource } from './post-ids/post-id-source.ts';
import { PostLookup } from './post-lookup.ts';
import { RecentPosts } from './recent-posts.ts';
import { ReplaySource } from './replay/replay-source.ts';
import { ReplayThrottle } from './replay/replay-throttle.ts';
import { SourceRunner } from './run-source.ts';
import { SeenThings } from './seen-things.ts';

/** About 15 MB; ten minutes of the whole site at its peaks. */
const SEEN_THINGS = 200_000;
/** An hour of new posts; older ones are asked for. */
const RECENT_POSTS = 50_000;
/** A statement without an answer for so long: Postgres hangs. */
const QUERY_DEADLINE_MS = 5_000;

export interface CrawlerDeps {
  upstream: Upstream;
  publisher: Pick<Publisher, 'publishAll'>;
  pool: Pool;
  /** As CRAWL_SOURCES names them. */
  sources: readonly string[];
  /** The public site, without a slash at the end. */
  siteUrl: string;
  /** Holds replays back: they wait while more records than `most` wait for the matcher. Undefined: they never wait. */
  replayLag?: { read: () => Promise<number>; most: number };
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** In [0, 1), for jitter. */
  random?: () => number;
  /** Called once for an error that nobody expected; the process must end. */
  fatal: (error: Error) => void;
}

/**
 * Starts every source named, each in its own loop under its own lease. Returns at once; `ready` says whether all of
 * them are at work here or elsewhere.
 *
 * @throws ConfigError when a source is unknown or a file to replay cannot be read.
 */
export async function startCrawler(deps: CrawlerDeps): Promise<Running & { ready(): boolean }> {
  const logger = deps.logger.child({ service: 'crawler' });
  const stopping = new AbortController();
  const runners = createRunners({ ...deps, logger }, planSources(deps.sources));
  const loops = runners.map(async (runner) => {
    try {
      await runner.run(stopping.signal);
    } catch (error) {
      deps.fatal(toError(error));
    }
  });
  return {
    ready: () => runners.every((runner) => runner.ready()),
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

function createRunners(deps: CrawlerDeps, plans: readonly SourcePlan[]): SourceRunner[] {
  const posts = new RecentPosts(RECENT_POSTS);
  const lookup = new PostLookup(deps.upstream, posts, deps.logger);
  const items = new ItemPublisher({ ...deps, lookup, posts, seen: new SeenThings(SEEN_THINGS) });
  const pace = new Pace(() => deps.upstream.perSecond('live'));
  const holder = `${hostname()}:${process.pid}:${randomUUID()}`;
  const random = deps.random ?? Math.random;
  const db = withQueryDeadline(deps.pool, QUERY_DEADLINE_MS);
  return plans.map((plan) => {
    const missed = (gap: CrawlGap): void => {
      runner.missed(gap);
    };
    const runner = new SourceRunner(createSource(plan, { ...deps, pace, missed }), {
      ...deps,
      db,
      holder,
      items,
      random,
    });
    return runner;
  });
}

type SourceDeps = CrawlerDeps & { pace: Pace; missed: (gap: CrawlGap) => void };

function createSource(plan: SourcePlan, deps: SourceDeps): CrawlSource {
  switch (plan.kind) {
    case 'post-ids':
      return new PostIdSource(deps);
    case 'listing':
      return new ListingSource(plan.listing, deps);
    case 'replay':
      return new ReplaySource(plan.replay, { ...deps, throttle: throttleOf(deps) });
  }
}

function throttleOf({ replayLag, logger, clock }: CrawlerDeps): ReplayThrottle | undefined {
  if (replayLag === undefined) return undefined;
  return new ReplayThrottle({ lag: replayLag.read, mostLag: replayLag.most, logger, clock });
}
