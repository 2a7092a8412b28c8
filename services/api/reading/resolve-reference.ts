import { parseReference } from '../../../shared/domain/forum-reference.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import type { ReadingDeps } from './reading-deps.ts';

export const ACCEPTED_REFERENCES =
  'must be the URL of a post or comment on the forum, a short or share link, a fullname (t3_…) or an id';

/** The post, and the comment, that a reference names. */
export interface PostReference {
  postId: string;
  commentId: string | undefined;
}

/**
 * Resolves the post that `url` and `id` name. When both are given they must name the same post.
 *
 * @throws ApiError invalid_request that names the parameter
 * @throws UpstreamError when the lookup of a share link fails
 */
export async function resolvePost(
  deps: ReadingDeps,
  given: { url?: string | undefined; id?: string | undefined },
): Promise<PostReference> {
  // Parse both parameters before any call to the forum.
  const parsed = (['url', 'id'] as const)
    .filter((field) => given[field] !== undefined)
    .map((field) => ({ field, reference: parseParameter(deps, field, given[field] ?? '') }));
  const posts: PostReference[] = [];
  for (const { field, reference } of parsed) posts.push(await resolveReference(deps, field, reference));
  const [first, second] = posts;
  if (first === undefined) throw invalidRequest([{ field: 'url', message: 'url or id is required' }]);
  if (second !== undefined && second.postId !== first.postId) {
    throw invalidRequest([{ field: 'id', message: 'must name the same post as url' }]);
  }
  return { postId: first.postId, commentId: first.commentId ?? second?.commentId };
}

function parseParameter(deps: ReadingDeps, field: string, text: string) {
  const reference = parseReference(text, deps.hosts);
  if (reference === undefined) throw invalidRequest([{ field, message: ACCEPTED_REFERENCES }]);
  return reference;
}

async function resolveReference(
  deps: ReadingDeps,
  field: string,
  reference: ReturnType<typeof parseParameter>,
): Promise<PostReference> {
  const { postId, commentId } =
    reference.kind === 'share' ? await deps.shareLinks.follow(reference.path, deps.source) : reference;
  if (postId === undefined) {
    throw invalidRequest([{ field, message: 'names a comment; send the id of a post, or the URL of the comment' }]);
  }
  return { postId, commentId };
}
