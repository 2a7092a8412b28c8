import type { ReadingDeps } from './reading-route.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import { parseReference } from '../../../shared/rules/forum-reference.ts';
import type { ShareLink, ForumHosts, ItemReference } from '../../../shared/rules/forum-reference.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { invalidRequest } from '../http/api-error.ts';
import { CachedReads } from './cached-reads.ts';
import type { ForumSource } from './forum-source.ts';
import { isDenial, isForumUnavailable } from './reading-route.ts';

export const ACCEPTED_REFERENCES =
  'must be the URL of a post or comment on the forum, a short or share link, a fullname (t3_…) or an id';

/** The post, and the comment, that a reference names. */
export interface PostReference {
  postId: string;
  commentId: string | undefined;
}

/** A reference as it was given, and the parameter that holds it. */
interface GivenReference {
  field: 'url' | 'id';
  reference: PostReference | ShareLink;
}

interface PostParameters {
  url?: string | undefined;
  id?: string | undefined;
}

/**
 * Parses the references of `url` and `id`. Where a share link leads is not known yet.
 *
 * @throws ApiError invalid_request that names the parameter
 */
export function parsePostReference({ hosts }: Pick<ReadingDeps, 'hosts'>, given: PostParameters): GivenReference[] {
  const fields = (['url', 'id'] as const).filter((field) => given[field] !== undefined);
  if (fields.length === 0) throw invalidRequest([{ field: 'url', message: 'url or id is required' }]);
  const parsed = fields.map((field) => {
    const reference = parseReference(given[field] ?? '', hosts);
    if (reference === undefined) throw invalidRequest([{ field, message: ACCEPTED_REFERENCES }]);
    return { field, reference: reference.kind === 'share' ? reference : ofPost(field, reference) };
  });
  refuseTwoPosts(parsed.map(({ reference }) => reference).filter((reference) => 'postId' in reference));
  return parsed;
}

/**
 * Resolves the post that `url` and `id` name. When both are given they must name the same post.
 *
 * @throws ApiError invalid_request that names the parameter
 * @throws UpstreamError when the lookup of a share link fails
 */
export async function resolvePost(deps: ReadingDeps, given: PostParameters): Promise<PostReference> {
  const posts: PostReference[] = [];
  for (const { field, reference } of parsePostReference(deps, given)) {
    if ('postId' in reference) posts.push(reference);
    else posts.push(ofPost(field, await deps.shareLinks.follow(reference.path, deps.source)));
  }
  refuseTwoPosts(posts);
  return { postId: posts[0]!.postId, commentId: posts[0]!.commentId ?? posts[1]?.commentId };
}

function ofPost(field: string, { postId, commentId }: ItemReference): PostReference {
  if (postId !== undefined) return { postId, commentId };
  throw invalidRequest([{ field, message: 'names a comment; send the id of a post, or the URL of the comment' }]);
}

function refuseTwoPosts([first, second]: readonly PostReference[]): void {
  if (second !== undefined && second.postId !== first?.postId) {
    throw invalidRequest([{ field: 'id', message: 'must name the same post as url' }]);
  }
}

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
