import { CachedReads } from '../../../shared/cache/cached-reads.ts';
import { parseReference } from '../../../shared/domain/forum-reference.ts';
import type { ForumHosts, ThingReference } from '../../../shared/domain/forum-reference.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { UpstreamError } from '../../../shared/upstream/upstream-error.ts';
import type { ForumSource } from './forum-source.ts';
import { isDenial, isTrouble } from './reading-failure.ts';

/** A link leads where it leads for ever, but its post may go. */
const FRESH_FOR_MS = 86_400_000;
const DENIAL_FOR_MS = 600_000;
/** Some 10,000 links. */
const MEMORY_BYTES = 4 * 1024 * 1024;
const MOST_HOPS = 3;

/**
 * Where share links lead. What was found out is remembered, dead links too, because each look costs up to three calls
 * to the forum.
 */
export class ShareLinks {
  private readonly hosts: ForumHosts;
  private readonly reads: CachedReads<ThingReference>;

  constructor({ hosts, clock }: { hosts: ForumHosts; clock: Clock }) {
    this.hosts = hosts;
    this.reads = new CachedReads({
      clock,
      memoryBytes: MEMORY_BYTES,
      freshForMs: () => FRESH_FOR_MS,
      mayServeStale: isTrouble,
      negativeForMs: (error) => (isDenial(error) ? DENIAL_FOR_MS : 0),
    });
  }

  /**
   * Only links of the forum are followed, by reading where they redirect to.
   *
   * @param path of a share link, as `parseReference` gives it
   * @throws UpstreamError not_found when it leads to no post
   */
  async follow(path: string, source: Pick<ForumSource, 'redirectOf'>): Promise<ThingReference> {
    return (await this.reads.read(path, () => this.ask(path, source))).value;
  }

  private async ask(path: string, source: Pick<ForumSource, 'redirectOf'>): Promise<ThingReference> {
    let next = path;
    for (let hop = 0; hop < MOST_HOPS; hop++) {
      const location = await source.redirectOf(next);
      const reference = location === undefined ? undefined : parseReference(location, this.hosts);
      if (reference === undefined) break;
      if (reference.kind !== 'share') return reference;
      next = reference.path;
    }
    throw new UpstreamError('not_found', 'a share link leads to no post', { reason: 'share_link' });
  }
}
