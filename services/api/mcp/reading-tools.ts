import { z } from 'zod';
import { postResponse } from '../../../schemas/messages/forum-post.ts';
import * as forum from '../../../schemas/api/forum-resources.ts';
import * as queries from '../../../schemas/api/reading-queries.ts';
import { createMeta, readChargedPost, renderCharged } from '../reading/post-route.ts';
import type { ReadingDeps } from '../reading/reading-deps.ts';
import type { Route } from '../http/route.ts';
import { listingText, subredditText, thingsText, userText } from './forum-texts.ts';
import { inputOfQuery, outputSchemaOf, queryOf, readArguments, requiredScope, routeTool } from './tool.ts';
import type { Tool, ToolAnswer, ToolCall } from './tool.ts';

const READS = { readOnlyHint: true, openWorldHint: true } as const;
const POST_INPUT = inputOfQuery(queries.postQuery);

/** @param routeAt returns the API's GET route with a path */
export function readingTools(deps: ReadingDeps, routeAt: (path: string) => Route): Tool[] {
  return [
    {
      name: 'get_forum_post',
      title: 'Read a post with its comments',
      description:
        'A post and its comment tree, by `url` or `id` (one of them is required). The text is Markdown; the structured answer has the post, the discussion ' +
        'graph and meta (`format=json`), the graph and meta (`graph`), or meta alone (`md`). Costs 1 credit, and 1 more for each 100 comments beyond 500.',
      annotations: READS,
      inputSchema: POST_INPUT,
      outputSchema: outputSchemaOf(
        postResponse.partial({ post: true, discussion_graph: true }).meta({ id: 'PostAnswer' }),
      ),
      scope: requiredScope(routeAt('/v1/forum/post')),
      call: (call) => readPost(deps, call),
    },
    routeTool({
      name: 'get_forum_items',
      title: 'Look up posts and comments',
      description:
        'Up to 100 posts and comments by their ids or URLs, in the requested order; unknown ones are listed in `missing`. Costs 1 credit.',
      annotations: READS,
      inputSchema: inputOfQuery(queries.thingsQuery),
      outputSchema: outputSchemaOf(forum.thingsResponse),
      route: routeAt('/v1/forum/things'),
      toText: thingsText,
    }),
    routeTool({
      name: 'list_subreddit_posts',
      title: "List a community's posts",
      description:
        'A page of the posts of a community. Pass the `after` of a page to get the next one. Costs 1 credit.',
      annotations: READS,
      inputSchema: inputOfQuery(queries.subredditQuery),
      outputSchema: outputSchemaOf(forum.postListing),
      route: routeAt('/v1/forum/subreddit'),
      toText: listingText,
    }),
    routeTool({
      name: 'get_subreddit',
      title: 'What a community is about',
      description: 'A community with its description, number of subscribers and rules. Costs 1 credit.',
      annotations: READS,
      inputSchema: inputOfQuery(queries.subredditAboutQuery),
      outputSchema: outputSchemaOf(forum.subreddit),
      route: routeAt('/v1/forum/subreddit/about'),
      toText: subredditText,
    }),
    routeTool({
      name: 'get_forum_user',
      title: 'A user',
      description: 'A user with account age and karma. Costs 1 credit.',
      annotations: READS,
      inputSchema: inputOfQuery(queries.userQuery),
      outputSchema: outputSchemaOf(forum.forumUser),
      route: routeAt('/v1/forum/user'),
      toText: userText,
    }),
    routeTool({
      name: 'search_forum',
      title: 'Search the forum',
      description: 'A page of the posts, communities or users (`type`) that a search finds. Costs 1 credit.',
      annotations: READS,
      inputSchema: inputOfQuery(queries.searchQuery),
      outputSchema: outputSchemaOf(z.union([forum.postListing, forum.subredditListing, forum.userListing])),
      route: routeAt('/v1/forum/search'),
      toText: listingText,
    }),
  ];
}

/** Reads and charges the post once, and renders it twice: for programs and for models. */
async function readPost(deps: ReadingDeps, { args, ...call }: ToolCall): Promise<ToolAnswer> {
  const outcome = await readChargedPost(deps, { ...call, query: queryOf(readArguments(POST_INPUT, args)) });
  const { charged } = outcome;
  const { format } = outcome.parsedQuery;
  const markdown = renderCharged(deps, outcome, 'md');
  const meta = createMeta(outcome, markdown);
  if (format === 'md') return { structured: { meta }, text: markdown.bytes.toString(), charged };
  const json = renderCharged(deps, outcome, format).bytes.toString();
  const structured = { ...(JSON.parse(json) as object), meta };
  return { structured, text: format === 'graph' ? json : markdown.bytes.toString(), charged };
}
