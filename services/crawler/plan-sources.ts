import { ConfigError } from '../../shared/runtime/config.ts';
import { SLICES } from './groups/group-source.ts';
import type { ListingPlan } from './listings/listing-source.ts';
import type { IdPlan } from './post-ids/post-id-source.ts';
import { COMMENT_IDS, POST_IDS } from './post-ids/post-id-source.ts';
import type { ReplayPlan } from './replay/replay-plan.ts';
import { parseReplayPlan, REPLAY } from './replay/replay-plan.ts';

/** Most items are comments, so this interval makes up most of the latency. */
export const ALL_COMMENTS = {
  name: 'listings:comments',
  path: '/r/all/comments',
  endpoint: 'listing-comments',
  intervalMs: 400,
  latencyShare: 0.2,
} as const satisfies ListingPlan;
/**
 * Only without the walk over post ids, which sees the same posts and more. At the peak of the whole site it would take
 * 0.5 calls/s.
 */
const POSTS: ListingPlan = {
  name: 'listings:new',
  path: '/r/all/new',
  endpoint: 'listing-new',
  intervalMs: 1_000,
  latencyShare: 0.1,
};

/** What `threads` starts: sources that compare the forum with the archive. */
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
  return [...new Set(names)].flatMap((name): SourcePlan[] => {
    if (name === 'post-ids') return [{ kind: 'ids', ids: POST_IDS }];
    if (name === 'comment-ids') return [{ kind: 'ids', ids: COMMENT_IDS }];
    if (name === 'listings') return [...listings.map((listing) => ({ kind: 'listing' as const, listing })), ...GROUPS];
    if (name === 'threads') return SWEEPS.map((sweep) => ({ kind: 'sweep', sweep }));
    if (name.startsWith(REPLAY)) return [{ kind: 'replay', replay: parseReplayPlan(name.slice(REPLAY.length)) }];
    throw new ConfigError(
      `CRAWL_SOURCES: ${name} is unknown; use post-ids, comment-ids, listings, threads or replay:FILE`,
    );
  });
}
