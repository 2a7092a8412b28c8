import * as forum from '../../../schemas/api/reading.ts';
import * as queries from '../../../schemas/api/reading.ts';
import type { ThingsResponse } from '../../../schemas/api/reading.ts';
import { parseReference } from '../../../shared/rules/forum-reference.ts';
import { invalidRequest } from '../http/api-error.ts';
import type { Route } from '../http/route.ts';
import { thingsText } from '../mcp/tool-text.ts';
import { READS_FORUM } from '../mcp/tool.ts';
import type { FoundThings } from './forum-source.ts';
import { pageReader, withSubreddit } from './listing-routes.ts';
import { isDenial, isExplainedDenial, readingRoute, REFUSED_OR_UNKNOWN } from './reading-route.ts';
import type { ReadingDeps } from './reading-route.ts';
import { ACCEPTED_REFERENCES, parsePostReference, resolvePost } from './resolve-reference.ts';

const POST = { subject: 'post', refusal: 'forum_refused' } as const;
const THINGS = { subject: 'list of things', refusal: 'upstream_error' } as const;

/** Each share link costs up to three forum calls before the call that reads its target. */
const MAX_SHARE_LINKS = 5;

export function itemRoutes(deps: ReadingDeps): Route[] {
  return [
    readingRoute(deps, {
      path: '/v1/forum/post/duplicates',
      operationId: 'listDuplicates',
      summary: 'List other discussions of a post',
      description: 'Crossposts of a post, and other posts that link to the same page.',
      query: queries.duplicatesQuery,
      example: { id: 't3_1b6xk0p' },
      content: [{ schema: forum.postListing }],
      errors: REFUSED_OR_UNKNOWN,

      errorPolicy: POST,
      check: (query) => parsePostReference(deps, query),
      read: async (query, requestDeps) => {
        const { postId } = await resolvePost(requestDeps, query);
        const params = { limit: String(query.limit), ...(query.after === undefined ? {} : { after: query.after }) };
        const request = { query: null, sort: 'num_comments', nsfw: query.nsfw };
        const read = pageReader(deps, `/duplicates/${postId}`, params, request);
        return withSubreddit(null, await read(() => requestDeps.source.duplicates(postId, params)));
      },
    }),
    readingRoute(deps, {
      path: '/v1/forum/things',
      operationId: 'getThings',
      summary: 'Look up posts and comments by id',
      description:
        'Up to 100 posts and comments, in the requested order. Those that do not exist or that the forum does not show are listed in `missing`.',
      query: queries.thingsQuery,
      example: { ids: ['t3_1b6xk0p', 't1_k2c9xqa', 't3_zzzzzzz'] },
      content: [{ schema: forum.thingsResponse }],
      isCached: false,

      tool: {
        name: 'get_forum_items',
        title: 'Look up posts and comments',
        description:
          'Up to 100 posts and comments by their ids or URLs, in the requested order; unknown ones are listed in `missing`. Costs 1 credit.',
        annotations: READS_FORUM,
        toText: thingsText,
      },
      errorPolicy: THINGS,
      check: ({ ids }) => parseReferences(deps, ids),
      read: async ({ ids }, requestDeps) => ({ body: await readThings(requestDeps, ids), tier: 'MISS' }),
    }),
  ];
}

async function readThings(deps: ReadingDeps, ids: readonly string[]): Promise<ThingsResponse> {
  const names = await resolveNames(deps, ids);
  const known = [...new Set(names.filter((name) => name !== undefined))];
  const found = await findThings(deps, known);
  const response: ThingsResponse = { items: [], missing: [] };
  for (const [index, id] of ids.entries()) {
    const name = names[index] ?? '';
    const post = found.posts.get(name);
    const comment = found.comments.get(name);
    if (post) response.items.push({ kind: 'post', post });
    else if (comment) response.items.push({ kind: 'comment', comment });
    else response.missing.push(id);
  }
  return response;
}

/** @throws ApiError invalid_request */
function parseReferences({ hosts }: Pick<ReadingDeps, 'hosts'>, ids: readonly string[]) {
  const references = ids.map((id, index) => {
    const reference = parseReference(id, hosts);
    if (reference === undefined) throw invalidRequest([{ field: `ids[${index}]`, message: ACCEPTED_REFERENCES }]);
    return reference;
  });
  if (references.filter(({ kind }) => kind === 'share').length > MAX_SHARE_LINKS) {
    throw invalidRequest([{ field: 'ids', message: `must name at most ${MAX_SHARE_LINKS} share links` }]);
  }
  return references;
}

/**
 * Resolves each id to a fullname; undefined for a share link that leads nowhere.
 *
 * @throws ApiError invalid_request
 */
async function resolveNames(deps: ReadingDeps, ids: readonly string[]): Promise<(string | undefined)[]> {
  return Promise.all(
    parseReferences(deps, ids).map(async (reference) => {
      if (reference.kind !== 'share') return fullnameOf(reference);
      try {
        return fullnameOf(await deps.shareLinks.follow(reference.path, deps.source));
      } catch (error) {
        if (isDenial(error)) return undefined;
        throw error;
      }
    }),
  );
}

function fullnameOf({ commentId, postId }: { commentId: string | undefined; postId: string | undefined }): string {
  return commentId === undefined ? `t3_${postId}` : `t1_${commentId}`;
}

/**
 * Things that the forum refuses are missing, like unknown ones. A refusal of the call without a reason is about us, so
 * it is thrown.
 */
async function findThings(deps: ReadingDeps, names: readonly string[]): Promise<FoundThings> {
  try {
    return await deps.source.things(names);
  } catch (error) {
    if (isExplainedDenial(error)) return { posts: new Map(), comments: new Map() };
    throw error;
  }
}
