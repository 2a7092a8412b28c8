import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { DiskCache } from './disk-cache.ts';
import { forumHosts } from '../../../shared/rules/forum-reference.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { Route } from '../http/route.ts';
import { AccountCalls } from './account-calls.ts';
import { ForumSource } from './forum-source.ts';
import type { ForumSourceDeps } from './forum-source.ts';
import { listingRoutes } from './listing-routes.ts';
import { createListingCache } from './reading-deps.ts';
import { PostReader } from './post-reader.ts';
import { postRoute } from './post-route.ts';
import { ReadingCharges } from './reading-charge.ts';
import type { ReadingDeps } from './reading-deps.ts';
import { RenderedPosts } from './rendered-posts.ts';
import { searchRoutes } from './search-routes.ts';
import { ShareLinks } from './share-links.ts';
import { thingRoutes } from './thing-routes.ts';

export interface ForumReadingDeps extends Omit<ForumSourceDeps, 'logger' | 'metrics'> {
  /** Cache that outlives the process; undefined: posts are cached in memory only. */
  disk: DiskCache | undefined;
}

const POST_MEMORY_BYTES = 64 * 1024 * 1024;
const RENDERED_MEMORY_BYTES = 32 * 1024 * 1024;
const LISTING_MEMORY_BYTES = 32 * 1024 * 1024;

export interface ReadingRouteDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  forum: ForumReadingDeps;
  logger: Logger;
  metrics: Pick<Metrics, 'cacheBytes' | 'readingUnreadable'>;
}

export function createReadingDeps({ pool, clickhouse, forum, logger, metrics }: ReadingRouteDeps): ReadingDeps {
  const source = new ForumSource({ ...forum, logger, metrics });
  const { clock, disk } = forum;
  const hosts = forumHosts(forum.siteUrl);
  const cache = (name: string, memoryBytes: number) => ({
    memoryBytes,
    onBytes: (bytes: number): void => metrics.cacheBytes.set({ cache: name }, bytes),
  });
  return {
    charges: new ReadingCharges(pool, logger),
    source,
    hosts,
    shareLinks: new ShareLinks({ hosts, clock }),
    listings: createListingCache({ clock, ...cache('listings', LISTING_MEMORY_BYTES) }),
    posts: new PostReader({ clock, ...cache('posts', POST_MEMORY_BYTES), disk, logger }),
    rendered: new RenderedPosts(cache('rendered', RENDERED_MEMORY_BYTES)),
    archive: { clickhouse, source, clock },
    accountCalls: new AccountCalls({ forum: forum.upstream, clock }),
  };
}

/** All routes below /v1/forum. */
export function readingRoutes(deps: ReadingDeps): Route[] {
  return [postRoute(deps), ...thingRoutes(deps), ...listingRoutes(deps), ...searchRoutes(deps)];
}
