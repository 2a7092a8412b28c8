import { parseReference } from '../../../shared/rules/forum-reference.ts';
import type { ShareLink, ItemReference } from '../../../shared/rules/forum-reference.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import type { ReadingDeps } from './reading-deps.ts';

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

/** The parameters that name a post. */
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
