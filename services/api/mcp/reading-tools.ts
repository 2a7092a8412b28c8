import { z } from 'zod';
import * as forum from '../../../schemas/api/forum-resources.ts';
import type { CommentItem, ForumUser, Subreddit, ThingsResponse } from '../../../schemas/api/forum-resources.ts';
import * as queries from '../../../schemas/api/reading-queries.ts';
import { postResponse } from '../../../schemas/messages/forum-post.ts';
import type { Post } from '../../../schemas/messages/forum-post.ts';
import type { Route } from '../http/route.ts';
import { inlineText } from '../reading/comments/untrusted-text.ts';
import { createMeta, readChargedPost, renderCharged } from '../reading/post-route.ts';
import type { ReadingDeps } from '../reading/reading-deps.ts';
import { excerptOf, inputOfQuery, outputSchemaOf, queryOf, readArguments, requiredScope } from './tool.ts';
import type { RouteTool, Tool, ToolAnswer, ToolCall } from './tool.ts';

const READS = { readOnlyHint: true, openWorldHint: true } as const;
const POST_INPUT = inputOfQuery(queries.postQuery);

/** @param route `GET /v1/forum/post` */
export function postTool(deps: ReadingDeps, route: Route): Tool {
  return {
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
    scope: requiredScope(route),
    call: (call) => readPost(deps, call),
  };
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

export const READING_TOOLS: readonly RouteTool[] = [
  {
    name: 'get_forum_items',
    title: 'Look up posts and comments',
    description:
      'Up to 100 posts and comments by their ids or URLs, in the requested order; unknown ones are listed in `missing`. Costs 1 credit.',
    annotations: READS,
    input: inputOfQuery(queries.thingsQuery),
    output: forum.thingsResponse,
    route: 'get /v1/forum/things',
    toText: thingsText,
  },
  {
    name: 'list_subreddit_posts',
    title: "List a community's posts",
    description: 'A page of the posts of a community. Pass the `after` of a page to get the next one. Costs 1 credit.',
    annotations: READS,
    input: inputOfQuery(queries.subredditQuery),
    output: forum.postListing,
    route: 'get /v1/forum/subreddit',
    toText: listingText,
  },
  {
    name: 'get_subreddit',
    title: 'What a community is about',
    description: 'A community with its description, number of subscribers and rules. Costs 1 credit.',
    annotations: READS,
    input: inputOfQuery(queries.subredditAboutQuery),
    output: forum.subreddit,
    route: 'get /v1/forum/subreddit/about',
    toText: subredditText,
  },
  {
    name: 'get_forum_user',
    title: 'A user',
    description: 'A user with account age and karma. Costs 1 credit.',
    annotations: READS,
    input: inputOfQuery(queries.userQuery),
    output: forum.forumUser,
    route: 'get /v1/forum/user',
    toText: userLine,
  },
  {
    name: 'search_forum',
    title: 'Search the forum',
    description: 'A page of the posts, communities or users (`type`) that a search finds. Costs 1 credit.',
    annotations: READS,
    input: inputOfQuery(queries.searchQuery),
    output: z.union([forum.postListing, forum.subredditListing, forum.userListing]),
    route: 'get /v1/forum/search',
    toText: listingText,
  },
];

type AnyListing = forum.PostListing | forum.SubredditListing | forum.UserListing;

/** A page: one line per item, and how to get the next page. */
function listingText(listing: AnyListing): string {
  const lines = listing.items.map((item) => `- ${itemLine(item)}`);
  const notes = [
    listing.degraded ? 'This is an older copy, or some items could not be read.' : '',
    listing.filtered_nsfw > 0 ? `${listing.filtered_nsfw} NSFW items left out.` : '',
    listing.after === null ? '' : `Next page: after=${listing.after}`,
  ];
  return [...(lines.length === 0 ? ['Nothing found.'] : lines), ...notes].filter((line) => line !== '').join('\n');
}

function itemLine(item: Post | Subreddit | ForumUser): string {
  if ('selftext' in item) return postLine(item);
  return 'subscribers' in item ? communityLine(item) : userLine(item);
}

function thingsText({ items, missing }: ThingsResponse): string {
  const lines = items.map((item) =>
    item.kind === 'post' ? `- ${postLine(item.post)}` : `- ${commentLine(item.comment)}`,
  );
  return [...lines, ...(missing.length === 0 ? [] : [`Missing: ${missing.map(inlineText).join(', ')}`])].join('\n');
}

function subredditText(community: Subreddit): string {
  const about = excerptOf(community.public_description || community.description);
  const rules = community.rules.map(({ short_name }, index) => `${index + 1}. ${inlineText(short_name)}`);
  return [communityLine(community), about, ...(rules.length === 0 ? [] : ['Rules:', ...rules])]
    .filter((line) => line !== '')
    .join('\n');
}

function postLine(post: Post): string {
  const flags = [post.over_18 ? 'NSFW' : '', post.stickied ? 'pinned' : '', post.removed ? 'removed' : ''];
  const facts = [
    post.name,
    `r/${inlineText(post.subreddit)}`,
    `u/${inlineText(post.author)}`,
    `${post.score} points`,
    `${post.num_comments} comments`,
    post.created_at,
    ...flags,
  ];
  const text = excerptOf(post.selftext);
  return `${inlineText(post.title)} (${facts.filter((fact) => fact !== '').join(' · ')})${text === '' ? '' : `: ${text}`}`;
}

function commentLine(comment: CommentItem): string {
  const facts = [
    comment.name,
    `r/${inlineText(comment.subreddit)}`,
    `u/${inlineText(comment.author)}`,
    `${comment.score} points`,
    comment.created_at,
    `on "${inlineText(comment.post_title)}" t3_${comment.post_id}`,
  ];
  return `(${facts.join(' · ')}): ${excerptOf(comment.body)}`;
}

function communityLine(community: Subreddit): string {
  const nsfw = community.over_18 ? ' · NSFW' : '';
  return `r/${inlineText(community.name)}: ${inlineText(community.title)} (${community.type} · ${community.subscribers} subscribers · since ${community.created_at}${nsfw})`;
}

function userLine(user: ForumUser): string {
  const since = user.created_at === null ? '' : ` · since ${user.created_at}`;
  const flags = [user.suspended ? 'suspended' : '', user.is_employee ? 'employee' : ''].filter((flag) => flag !== '');
  return [
    `u/${inlineText(user.name)}: ${user.total_karma} karma (${user.link_karma} posts, ${user.comment_karma} comments)${since}`,
    ...flags,
  ].join(' · ');
}
