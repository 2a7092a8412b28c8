import type { z } from 'zod';
import * as queries from '../../../../schemas/api/reading-queries.ts';
import type { ErrorCode } from '../../../../shared/domain/error-codes.ts';
import type { ComponentName } from '../component-schemas.ts';
import { forumExamples as examples } from '../examples/forum-examples.ts';
import type { HeaderUse } from '../response-headers.ts';
import type { ContentDocument, RouteDocument } from '../route-document.ts';

/** Errors of every reading route. */
const READING: readonly ErrorCode[] = [
  'invalid_request',
  'insufficient_credits',
  'upstream_busy',
  'upstream_timeout',
  'upstream_error',
];
const REFUSED_OR_UNKNOWN = ['forum_refused', 'not_found'] as const;

const POST_TIERS = ['L1_TINYLFU', 'L2_BADGER', 'PARTIAL', 'MISS'];
const LISTING_TIERS = ['L1_LISTING', 'MISS'];
const NEVER_CACHED = ['MISS'];

interface ReadingDocument {
  path: string;
  operationId: string;
  summary: string;
  description: string;
  query: z.ZodObject;
  example: Record<string, unknown>;
  content: ContentDocument[];
  tiers: readonly string[];
  /** In addition to those of all reading routes. */
  errors?: readonly ErrorCode[];
  headers?: HeaderUse[];
}

function reading({ content, tiers, errors = [], headers = [], ...route }: ReadingDocument): RouteDocument {
  return {
    ...route,
    method: 'get',
    tag: 'Reading',
    answers: [
      {
        status: 200,
        description: 'The requested content.',
        content,
        headers: [{ name: 'X-Credits-Used' }, { name: 'X-Cache-Tier', values: tiers }, { name: 'Age' }, ...headers],
      },
    ],
    errors: [...READING, ...errors],
  };
}

function json(schema: ComponentName, name: string, value: unknown): ContentDocument {
  return { schema, examples: { [name]: value } };
}

const POSTS: RouteDocument[] = [
  reading({
    path: '/v1/forum/post',
    operationId: 'getPost',
    summary: 'Get a post with its comments',
    description:
      'A post with the tree of its comments and an overview of the discussion. One credit covers up to 500 comments, and each further 100 cost one more. When the balance covers fewer comments than requested, the answer has as many as it covers and `meta.limited_by_balance` is true.',
    query: queries.postQuery,
    example: { id: 't3_1b6xk0p', max_comments: 200 },
    content: [
      json('PostResponse', 'json', examples.post),
      json('GraphResponse', 'graph', examples.graph),
      { type: 'text/markdown', schema: { type: 'string' }, examples: { md: examples.markdown } },
    ],
    tiers: POST_TIERS,
    headers: [{ name: 'X-Comments-Returned' }, { name: 'X-Has-More' }],
    errors: REFUSED_OR_UNKNOWN,
  }),
  reading({
    path: '/v1/forum/post/duplicates',
    operationId: 'listDuplicates',
    summary: 'List other discussions of a post',
    description: 'Crossposts of a post, and other posts that link to the same page.',
    query: queries.duplicatesQuery,
    example: { id: 't3_1b6xk0p' },
    content: [json('Listing', 'page', examples.duplicates)],
    tiers: LISTING_TIERS,
    errors: REFUSED_OR_UNKNOWN,
  }),
  reading({
    path: '/v1/forum/things',
    operationId: 'getThings',
    summary: 'Look up posts and comments by id',
    description:
      'Up to 100 posts and comments, in the requested order. Those that the forum does not know or does not show are listed in `missing`.',
    query: queries.thingsQuery,
    example: { ids: ['t3_1b6xk0p', 't1_k2c9xqa', 't3_zzzzzzz'] },
    content: [json('ThingsResponse', 'things', examples.things)],
    tiers: NEVER_CACHED,
  }),
];

const COMMUNITIES: RouteDocument[] = [
  reading({
    path: '/v1/forum/subreddit',
    operationId: 'listSubredditPosts',
    summary: 'List posts of a community',
    description: 'A page of the posts of a community. Send its `after` to get the next page.',
    query: queries.subredditQuery,
    example: { sub: 'Coffee', sort: 'hot', limit: 25 },
    content: [json('Listing', 'page', examples.postListing)],
    tiers: LISTING_TIERS,
    errors: REFUSED_OR_UNKNOWN,
  }),
  reading({
    path: '/v1/forum/subreddit/about',
    operationId: 'getSubreddit',
    summary: 'Get a community and its rules',
    description: 'The description of a community, with its rules.',
    query: queries.subredditAboutQuery,
    example: { sub: 'Coffee' },
    content: [json('Subreddit', 'community', examples.community)],
    tiers: LISTING_TIERS,
    errors: REFUSED_OR_UNKNOWN,
  }),
  reading({
    path: '/v1/forum/subreddit/comments',
    operationId: 'listSubredditComments',
    summary: 'List recent comments of a community',
    description: 'A page of the newest comments of a community. Send its `after` to get the next page.',
    query: queries.subredditCommentsQuery,
    example: { sub: 'Coffee', limit: 25 },
    content: [json('CommentListing', 'page', examples.commentListing)],
    tiers: LISTING_TIERS,
    errors: REFUSED_OR_UNKNOWN,
  }),
  reading({
    path: '/v1/forum/subreddits',
    operationId: 'listSubreddits',
    summary: 'List popular or new communities',
    description: 'A page of communities. Send its `after` to get the next page.',
    query: queries.subredditsQuery,
    example: { sort: 'popular', limit: 25 },
    content: [json('SubredditListing', 'page', examples.subredditListing)],
    tiers: LISTING_TIERS,
  }),
];

const USERS: RouteDocument[] = [
  reading({
    path: '/v1/forum/user',
    operationId: 'getUser',
    summary: 'A user',
    description: 'The profile of a user. For a suspended user the forum shows only the name.',
    query: queries.userQuery,
    example: { name: 'early_riser' },
    content: [json('User', 'user', examples.user)],
    tiers: LISTING_TIERS,
    errors: ['not_found'],
  }),
  reading({
    path: '/v1/forum/user/posts',
    operationId: 'listUserPosts',
    summary: 'List posts of a user',
    description: 'A page of the posts of a user. Send its `after` to get the next page.',
    query: queries.userItemsQuery,
    example: { name: 'early_riser', sort: 'new' },
    content: [json('Listing', 'page', examples.userPosts)],
    tiers: LISTING_TIERS,
    errors: ['not_found'],
  }),
  reading({
    path: '/v1/forum/user/comments',
    operationId: 'listUserComments',
    summary: 'List comments of a user',
    description: 'A page of the comments of a user. Send its `after` to get the next page.',
    query: queries.userItemsQuery,
    example: { name: 'early_riser', sort: 'new' },
    content: [json('CommentListing', 'page', examples.userComments)],
    tiers: LISTING_TIERS,
    errors: ['not_found'],
  }),
];

const SEARCHES: RouteDocument[] = [
  reading({
    path: '/v1/forum/search',
    operationId: 'searchForum',
    summary: 'Search posts, communities or users',
    description:
      "A page of the forum's search results. For an unknown or private community the page of posts is empty, without an error.",
    query: queries.searchQuery,
    example: { q: 'french press', type: 'post', sub: 'Coffee' },
    content: [
      json('Listing', 'post', examples.search),
      json('SubredditListing', 'subreddit', examples.searchSubreddits),
      json('UserListing', 'user', examples.searchUsers),
    ],
    tiers: LISTING_TIERS,
  }),
  reading({
    path: '/v1/forum/search/comments',
    operationId: 'searchComments',
    summary: 'Search comments',
    description:
      "A page of about a dozen comments from this service's own archive, which has the comments of the last 30 days that it saw. By `new` all of them are found; `relevance` and `top` rank the 2,000 that were seen last of those that have all words. Results are looked up on the forum: scores are current, and deleted comments are left out.",
    query: queries.commentSearchQuery,
    example: { q: 'sour "four minutes"', sub: 'Coffee' },
    content: [json('CommentListing', 'page', examples.searchComments)],
    tiers: NEVER_CACHED,
    errors: ['forum_refused'],
  }),
];

/** All routes below /v1/forum. */
export const readingDocuments: readonly RouteDocument[] = [...POSTS, ...COMMUNITIES, ...USERS, ...SEARCHES];
