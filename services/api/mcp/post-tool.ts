import { postQuery } from '../../../schemas/api/reading.ts';
import { postResponse } from '../../../schemas/messages/forum-post.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Route } from '../http/route.ts';
import { createMeta, readChargedPost, renderCharged } from '../reading/post-route.ts';
import type { ReadingDeps } from '../reading/reading-deps.ts';
import { inputOfQuery, outputSchemaOf, queryOf, readArguments, READS_FORUM, requiredScope } from './tool.ts';
import type { Tool, ToolAnswer, ToolCall } from './tool.ts';

/** Differs from its route: one read is rendered twice. */
const POST_INPUT = inputOfQuery(postQuery);

/** @param route `GET /v1/forum/post` */
export function postTool(deps: ReadingDeps, route: Route): Tool {
  return {
    name: 'get_forum_post',
    title: 'Read a post with its comments',
    description:
      'A post and its comment tree, by `url` or `id` (one of them is required). The text is Markdown; the structured answer has the post, the discussion ' +
      'graph and meta (`format=json`), the graph and meta (`graph`), or meta alone (`md`). Costs 1 credit, and 1 more for each 100 comments beyond 500.',
    annotations: READS_FORUM,
    inputSchema: POST_INPUT,
    outputSchema: outputSchemaOf(
      postResponse.partial({ post: true, discussion_graph: true }).meta({ id: 'PostAnswer' }),
    ),
    scope: requiredScope(route),
    call: (call) => readPost(deps, call),
  };
}

/** Reads and charges the post once, and renders it twice: for programs and for models. */
async function readPost(deps: ReadingDeps, { args, ...call }: ToolCall): Promise<ToolAnswer> {
  const outcome = await readChargedPost(deps, {
    ...call,
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
