import type { z } from 'zod';
import { postQuery } from '../../../schemas/api/reading.ts';
import { graphResponse, postResponse } from '../../../schemas/messages/forum-post.ts';
import type { PostMeta } from '../../../schemas/messages/forum-post.ts';
import { coveredComments, postCost } from '../../../shared/billing/rules/plans.ts';
import { parseRequest } from '../http/api-error.ts';
import { refuseWithoutCredits } from '../http/request-charges.ts';
import type { Charged } from '../http/request-charges.ts';
import { chargedRequest, route, routeName } from '../http/route.ts';
import type { Content, Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { inputOfQuery, outputSchemaOf, queryOf, readArguments, READS_FORUM, requiredScope } from '../mcp/tool.ts';
import type { Tool, ToolAnswer, ToolCall } from '../mcp/tool.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import type { PostRead } from './post-reader.ts';
import { ageOf, depsForRequest, readingDocument, REFUSED_OR_UNKNOWN, withApiErrors } from './reading-route.ts';
import type { ReadingDeps } from './reading-route.ts';
import { renderPostMarkdown } from './rendered-posts.ts';
import type { PostFormat, RenderedPost } from './rendered-posts.ts';
import { parsePostReference, resolvePost } from './resolve-reference.ts';

type PostQuery = z.output<typeof postQuery>;

const MARKDOWN = 'text/markdown; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const POST = { subject: 'post or comment', refusal: 'forum_refused' } as const;

/** GET /v1/forum/post: a post with its comments as JSON, as one Markdown document, or as a graph of the discussion. */
export function postRoute(deps: ReadingDeps): Route {
  const example = exampleOf(postResponse);
  const post = { ...example.post, comments: example.discussion_graph.most_upvoted };
  const content: Content[] = [
    { schema: postResponse, examples: { json: { ...example, post } } },
    { schema: graphResponse },
    { type: 'text/markdown', schema: { type: 'string' }, examples: { md: renderPostMarkdown(post, example.meta) } },
  ];
  return route({
    ...readingDocument(content, ['L1_TINYLFU', 'L2_BADGER', 'PARTIAL', 'MISS'], {
      headers: [{ name: 'X-Comments-Returned' }, { name: 'X-Has-More' }],
      errors: REFUSED_OR_UNKNOWN,
    }),
    path: '/v1/forum/post',
    operationId: 'getPost',
    summary: 'Get a post with its comments',
    description:
      'A post with its comment tree and an overview of the discussion. One credit covers up to 500 comments; each further 100 cost one more. If the balance covers fewer comments than requested, the response has as many as it covers, and `meta.limited_by_balance` is true.',
    query: postQuery,
    example: { id: 't3_1b6xk0p', max_comments: 200 },
    async handle(request): Promise<RouteResponse> {
      const outcome = await readChargedPost(deps, request);
      const { read, charged } = outcome;
      const rendered = renderCharged(deps, outcome, outcome.parsedQuery.format);
      const headers = {
        'X-Cache-Tier': read.tier,
        Age: ageOf(deps, read.fetchedAtMs),
        'X-Comments-Returned': String(rendered.returned),
        'X-Has-More': String(rendered.hasMore),
        'Content-Type': outcome.parsedQuery.format === 'md' ? MARKDOWN : JSON_TYPE,
      };
      return { status: 200, body: rendered.withMeta(createMeta(outcome, rendered)), charged, headers };
    },
  });
}

export interface ChargedPost {
  parsedQuery: PostQuery;
  read: PostRead;
  /** Bare id of the comment that the request asks about. */
  commentId: string | undefined;
  charged: Charged;
  /** Number of comments that were paid for. */
  limit: number;
  /** Whether the balance covered fewer comments than requested. */
  isLimited: boolean;
}

/** @throws ApiError; nothing is charged in that case */
async function readChargedPost(
  deps: ReadingDeps,
  request: Pick<RouteRequest<PostQuery>, 'caller' | 'requestId' | 'route' | 'query' | 'throwIfDisconnected' | 'signal'>,
): Promise<ChargedPost> {
  const { caller, query: parsedQuery, throwIfDisconnected, signal } = request;
  parsePostReference(deps, parsedQuery);
  refuseWithoutCredits(caller);
  const calls = deps.accountCalls.begin(caller);
  const { read, commentId } = await withApiErrors(POST, () =>
    readPost(depsForRequest(deps, calls), parsedQuery, signal),
  );
  const full = { limit: parsedQuery.max_comments, isLimited: false };
  const cost = postCost(renderCharged(deps, { read, commentId, ...full }, parsedQuery.format).returned);
  throwIfDisconnected();
  const charged = await deps.charges.chargeCovered(caller, cost, chargedRequest(request));
  calls.markPaid();
  const covered = charged.credits < cost ? { limit: coveredComments(charged.credits), isLimited: true } : full;
  return { parsedQuery, read, commentId, charged, ...covered };
}

function renderCharged(
  deps: ReadingDeps,
  { read, commentId, limit }: Pick<ChargedPost, 'read' | 'commentId' | 'limit'>,
  format: PostFormat,
): RenderedPost {
  return deps.rendered.render(read, { format, limit, commentId });
}

function createMeta(
  { parsedQuery, read, commentId, charged, isLimited }: ChargedPost,
  { returned, hasMore }: Pick<RenderedPost, 'returned' | 'hasMore'>,
): PostMeta {
  return {
    comments_returned: returned,
    comments_total: read.post.num_comments,
    has_more: hasMore,
    max_comments: parsedQuery.max_comments,
    credits_used: charged.credits,
    cache: read.tier,
    limited_by_balance: isLimited,
    ...(commentId === undefined ? {} : { focus_comment_id: commentId }),
  };
}

async function readPost(
  deps: ReadingDeps,
  parsedQuery: PostQuery,
  signal: AbortSignal | undefined,
): Promise<{ read: PostRead; commentId: string | undefined }> {
  const { postId, commentId: pasted } = await resolvePost(deps, parsedQuery);
  const commentId = parsedQuery.comment ?? pasted;
  const { max_comments: max, context } = parsedQuery;
  const read =
    commentId === undefined
      ? await deps.posts.read(deps.source, { postId, max, signal })
      : await deps.posts.readAround(deps.source, { postId, commentId, context, max, signal });
  return { read, commentId };
}

/** Differs from its route: one read is rendered twice. */
const POST_INPUT = inputOfQuery(postQuery);

/** @param route `GET /v1/forum/post` */
export function postTool(deps: ReadingDeps, route: Route): Tool {
  return {
    name: 'get_forum_post',
    title: 'Read a post with its comments',
    description:
      'A post and its comment tree, by `url` or `id` (one is required). The text is Markdown; the structured result has the post, the discussion graph and meta (`format=json`), the graph and meta (`graph`), or only meta (`md`). Costs 1 credit, and 1 more for each 100 comments beyond 500.',
    annotations: READS_FORUM,
    inputSchema: POST_INPUT,
    outputSchema: outputSchemaOf(
      postResponse.partial({ post: true, discussion_graph: true }).meta({ id: 'PostAnswer' }),
    ),
    scope: requiredScope(route),
    call: (call) => callPostTool(deps, routeName(route), call),
  };
}

/** Reads and charges the post once, and renders it twice: for programs and for models. */
async function callPostTool(deps: ReadingDeps, route: string, { args, ...call }: ToolCall): Promise<ToolAnswer> {
  const outcome = await readChargedPost(deps, {
    ...call,
    route,
    query: parseRequest(postQuery, queryOf(readArguments(POST_INPUT, args)), 'query'),
  });
  const { charged } = outcome;
  const { format } = outcome.parsedQuery;
  const markdown = renderCharged(deps, outcome, 'md');
  const meta = createMeta(outcome, markdown);
  if (format === 'md') return { structured: { meta }, text: markdown.bytes.toString(), charged };
  const json = renderCharged(deps, outcome, format).bytes.toString();
  const structured = { ...(JSON.parse(json) as object), meta };
  return { structured, text: format === 'graph' ? json : markdown.bytes.toString(), charged };
}
