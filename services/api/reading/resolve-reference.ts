import { parseReference } from '../../../shared/domain/forum-reference.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import type { ReadingDeps } from './reading-deps.ts';

export const ACCEPTED =
  'must be the URL of a post or comment on the forum, a short or share link, a fullname (t3_…) or an id';

/** A post that was asked for, and the comment that the same words point at. */
export interface AskedPost {
  postId: string;
  commentId: string | undefined;
}

/**
 * The post that `url` and `id` name; when both are given it must be the same one.
 *
 * @throws ApiError invalid_request that names the parameter
 * @throws UpstreamError when a share link had to be looked up
 */
export async function resolvePost(
  deps: ReadingDeps,
  given: { url?: string | undefined; id?: string | undefined },
): Promise<AskedPost> {
  // Both are read before the forum is asked about one of them.
  const parsed = (['url', 'id'] as const)
    .filter((field) => given[field] !== undefined)
    .map((field) => ({ field, reference: referenceOf(deps, field, given[field] ?? '') }));
  const asked: AskedPost[] = [];
  for (const { field, reference } of parsed) asked.push(await postOf(deps, field, reference));
  const [first, second] = asked;
  if (first === undefined) throw invalidRequest([{ field: 'url', message: 'url or id is required' }]);
  if (second !== undefined && second.postId !== first.postId) {
    throw invalidRequest([{ field: 'id', message: 'names another post than url' }]);
  }
  return { postId: first.postId, commentId: first.commentId ?? second?.commentId };
}

function referenceOf(deps: ReadingDeps, field: string, text: string) {
  const reference = parseReference(text, deps.hosts);
  if (reference === undefined) throw invalidRequest([{ field, message: ACCEPTED }]);
  return reference;
}

async function postOf(deps: ReadingDeps, field: string, reference: ReturnType<typeof referenceOf>): Promise<AskedPost> {
  const { postId, commentId } =
    reference.kind === 'share' ? await deps.shareLinks.follow(reference.path, deps.source) : reference;
  if (postId === undefined) {
    throw invalidRequest([{ field, message: 'names a comment; a post is needed, or the URL of the comment' }]);
  }
  return { postId, commentId };
}
