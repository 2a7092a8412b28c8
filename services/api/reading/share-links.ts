import { CachedReads } from './cached-reads.ts';
import { parseReference } from '../../../shared/rules/forum-reference.ts';
import type { ForumHosts, ItemReference } from '../../../shared/rules/forum-reference.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { ForumSource } from './forum-source.ts';
import { isDenial, isForumUnavailable } from './reading-failure.ts';

/** The target of a share link never changes, but its post may be deleted. */
const FRESH_FOR_MS = 86_400_000;
const DENIAL_FOR_MS = 600_000;
/** Room for about 10,000 links. */
const MEMORY_BYTES = 4 * 1024 * 1024;
const MAX_REDIRECTS = 3;

/** The forum refuses us with such a redirect; whether the link leads to a post remains unknown. */
function leadsToSignIn(location: string): boolean {
  return URL.canParse(location) && /^\/(account\/)?login(\/|$)/.test(new URL(location).pathname);
}

/** Resolves share links. Results are cached, dead links too, because each lookup costs up to three forum calls. */
export class ShareLinks {
  private readonly hosts: ForumHosts;
  private readonly reads: CachedReads<ItemReference>;

  constructor({ hosts, clock }: { hosts: ForumHosts; clock: Clock }) {
    this.hosts = hosts;
    this.reads = new CachedReads({
      clock,
      memoryBytes: MEMORY_BYTES,
      freshForMs: () => FRESH_FOR_MS,
      mayServeStale: isForumUnavailable,
      negativeForMs: (error) => (isDenial(error) ? DENIAL_FOR_MS : 0),
    });
  }

  /**
   * Reads only the redirect, and follows it only while it points to a share link of the forum.
   *
   * @param path of a share link, as `parseReference` returns it
   * @throws UpstreamError not_found when the link does not lead to a post; moved when it leads to the sign-in page
   */
  async follow(path: string, source: Pick<ForumSource, 'redirectTarget'>): Promise<ItemReference> {
    return (await this.reads.read(path, () => this.resolve(path, source))).value;
  }

  private async resolve(path: string, source: Pick<ForumSource, 'redirectTarget'>): Promise<ItemReference> {
    let next = path;
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
      const location = await source.redirectTarget(next);
      if (location !== undefined && leadsToSignIn(location)) {
        throw new UpstreamError('moved', 'a share link leads to the sign-in page', { status: 302, location });
      }
      const reference = location === undefined ? undefined : parseReference(location, this.hosts);
      if (reference === undefined) break;
      if (reference.kind !== 'share') return reference;
      next = reference.path;
    }
    throw new UpstreamError('not_found', 'a share link does not lead to a post', { reason: 'share_link' });
  }
}
