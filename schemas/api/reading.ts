import { z } from 'zod';
import { count, example, fullname, itemContent, timestamp } from '../messages/forum-item.ts';
import { commentFields, post } from '../messages/forum-post.ts';
import { communityName, queryInteger } from './common.ts';

// These schemas parse the text of a query into numbers, booleans and lists. `meta` and `describe` only add to the
// OpenAPI document what the schema does not show; they check nothing.

/** Longer than any valid cursor, id or URL. */
const MAX_PARAMETER_LENGTH = 2_048;

const text = z.string().max(MAX_PARAMETER_LENGTH, 'is too long');
const required = text.min(1, 'must not be empty');

const limit = queryInteger(1, 100).default(25).describe('Items per page.');
const flag = z
  .enum(['true', 'false', '1', '0'])
  .transform((value) => value === 'true' || value === '1')
  .meta({ type: 'boolean' });
const nsfw = flag
  .default(false)
  .describe('Whether to include NSFW items. If not, `filtered_nsfw` counts the omitted ones.');
const after = z
  .string()
  .regex(/^t[1-6]_[0-9A-Za-z]{1,13}$/, 'must be the "after" of a page')
  .optional()
  .describe('The `after` of the previous page.');
const WINDOWS = ['hour', 'day', 'week', 'month', 'year', 'all'] as const;
const window = z.enum(WINDOWS);
/** Only the sorts `top` and `controversial` use a window of time. */
const windowOfSort = (byDefault: (typeof WINDOWS)[number]) =>
  window.optional().describe(`Time window for \`sort=top\` and \`controversial\`. Default: \`${byDefault}\`.`);
const searchWindow = window.optional().describe('How old results may be. Default: `all`.');

const sub = communityName;
const name = z
  .string()
  .trim()
  .regex(/^[\w-]{3,20}$/, 'must be 3 to 20 letters, digits, underscores or dashes')
  .describe('A user, without `u/`.');
const page = { limit, after, nsfw };

const url = required
  .optional()
  .describe(
    'The URL of a post on any host of the forum, a short or share link, a fullname (`t3_…`) or an id. `url` or `id` is required.',
  );
const id = required.optional().describe('Same as `url`. You can send both if they name the same post.');

export const postQuery = z
  .strictObject({
    url,
    id,
    comment: z
      .string()
      .regex(/^(?:t1_)?[0-9a-z]{1,13}$/i, 'must be the id of a comment')
      .transform((id) => id.replace(/^t1_/i, '').toLowerCase())
      .meta({ type: 'string', pattern: '^(?:t1_)?[0-9A-Za-z]{1,13}$' })
      .optional()
      .describe(
        'The id of a comment to focus on: returns its ancestors and direct replies. A comment permalink in `url` does the same.',
      ),
    context: queryInteger(0, 8).default(3).describe('How many levels of ancestors of the focused comment to return.'),
    max_comments: queryInteger(0, 2000)
      .default(200)
      .describe('Maximum number of comments to return; 0 returns only the post.'),
    format: z
      .enum(['json', 'md', 'graph'])
      .default('json')
      .describe('`json`: post, discussion graph and meta; `graph`: without the post; `md`: one Markdown document.'),
  })
  .refine(({ url, id }) => url !== undefined || id !== undefined, { path: ['url'], message: 'url or id is required' });

export const duplicatesQuery = z
  .strictObject({ url, id, ...page })
  .refine(({ url, id }) => url !== undefined || id !== undefined, { path: ['url'], message: 'url or id is required' });

const MAX_THINGS = 100;
/** Room for a hundred long URLs. Together with the headers it must fit into the server's limit for a request head. */
const MAX_IDS_LENGTH = 50_000;

export const thingsQuery = z.strictObject({
  ids: z
    .string()
    .max(MAX_IDS_LENGTH, 'is too long')
    .transform((ids) => ids.split(',').map((one) => one.trim()))
    .pipe(
      z
        .array(z.string().min(1, 'must not be empty'))
        .max(MAX_THINGS, `must name at most ${MAX_THINGS} posts and comments`),
    )
    .meta({
      minItems: 1,
      description:
        'Fullnames (`t1_…`, `t3_…`), post ids or URLs, separated by commas. At most 5 of them can be share links.',
    }),
});

export const subredditQuery = z.strictObject({
  sub,
  sort: z.enum(['hot', 'new', 'top', 'rising', 'controversial']).default('hot').describe('The order of the posts.'),
  t: windowOfSort('day'),
  ...page,
});
export const subredditAboutQuery = z.strictObject({ sub });
export const subredditCommentsQuery = z.strictObject({ sub, ...page });
export const subredditsQuery = z.strictObject({
  sort: z.enum(['popular', 'new']).default('popular').describe('The order of the communities.'),
  ...page,
});
export const userQuery = z.strictObject({ name });
export const userItemsQuery = z.strictObject({
  name,
  sort: z.enum(['new', 'hot', 'top', 'controversial']).default('new').describe('The order of the items.'),
  t: windowOfSort('all'),
  ...page,
});

/** @param maxLength in characters (code points) */
const searchText = (maxLength: number) =>
  z
    .string()
    .trim()
    .refine((q) => q !== '' && Array.from(q).length <= maxLength, `must be 1 to ${maxLength} characters`)
    .refine((q) => q.isWellFormed() && !q.includes('\0'), 'must not contain NUL or half of a surrogate pair')
    .meta({ minLength: 1, maxLength: maxLength });

export const searchQuery = z.strictObject({
  q: searchText(256).describe(
    'What to search for. For posts in the forum\'s own syntax: `"a phrase"`, `author:name`, `self:yes` …',
  ),
  type: z.enum(['post', 'subreddit', 'user']).default('post').describe('What to search.'),
  sub: sub.optional().describe('Only posts in this community, with or without `r/`.'),
  sort: z
    .enum(['relevance', 'new', 'top', 'comments'])
    .default('relevance')
    .describe('The order of posts. Other types have a fixed order.'),
  t: searchWindow,
  ...page,
});
export const commentSearchQuery = z.strictObject({
  q: searchText(500).describe('Words and `"quoted phrases"`, all of which must occur. At least one letter or digit.'),
  sub: sub.optional().describe('Only comments in this community, with or without `r/`.'),
  sort: z
    .enum(['relevance', 'new', 'top'])
    .default('relevance')
    .describe('The order of the comments. `top` orders the 100 most relevant ones by score.'),
  t: searchWindow,
  after,
  nsfw,
});

const item = itemContent.shape;
const comment = commentFields.shape;

/** A comment without its tree. */
export const commentItem = z
  .strictObject({
    id: comment.id,
    name: fullname.meta(example('t1_k2c9xqa')),
    post_id: item.post_id,
    post_title: item.title.describe('Empty when it is not available.'),
    subreddit: item.subreddit,
    author: comment.author,
    body: comment.body.describe('Markdown.'),
    permalink: z.string().meta(example('https://www.reddit.com/r/Coffee/comments/1b6xk0p/_/k2c9xqa/')),
    parent_id: comment.parent_id,
    score: comment.score,
    created_at: comment.created_at,
    is_submitter: comment.is_submitter,
    controversiality: comment.controversy,
  })
  .meta({ id: 'CommentItem' });
export type CommentItem = z.infer<typeof commentItem>;

export const subredditRule = z
  .strictObject({
    kind: z.string().describe('What it applies to: `link`, `comment` or `all`.').meta(example('all')),
    short_name: z.string().meta(example('Be civil')),
    description: z.string().meta(example('Discuss the brew, not the person.')),
    violation_reason: z.string().meta(example('Uncivil')),
    priority: z.number().int().meta(example(0)),
    created_at: timestamp,
  })
  .meta({ id: 'SubredditRule' });

export const subreddit = z
  .strictObject({
    name: item.subreddit.describe('Without `r/`.'),
    title: z.string().meta(example('All about coffee')),
    public_description: z.string().meta(example('Beans, brewing and the people who drink it.')),
    description: z.string().meta(example('Read the rules first.')),
    url: z.string().meta(example('https://www.reddit.com/r/Coffee/')),
    icon: z.string().meta(example('')),
    type: z.string().describe('`public`, `restricted`, `private`, `archived`, `user` …').meta(example('public')),
    subscribers: count.meta(example(1_840_211)),
    created_at: timestamp,
    over_18: z.boolean(),
    rules: z.array(subredditRule).describe('Empty in listings.').meta(example([])),
  })
  .meta({ id: 'Subreddit' });
export type Subreddit = z.infer<typeof subreddit>;

export const forumUser = z
  .strictObject({
    name: item.author,
    created_at: timestamp.nullable().describe('null when the forum does not say, for example for suspended accounts.'),
    link_karma: z.number().int().meta(example(512)),
    comment_karma: z.number().int().meta(example(4_096)),
    total_karma: z.number().int().meta(example(4_608)),
    is_employee: z.boolean(),
    is_mod: z.boolean(),
    has_verified_email: z.boolean(),
    suspended: z.boolean(),
    icon: z.string().meta(example('')),
  })
  .meta({ id: 'User' });
export type ForumUser = z.infer<typeof forumUser>;

const envelope = {
  query: z.string().nullable().describe('The search query; null when there is none.'),
  sort: z.string().describe('The order of the items.').meta(example('new')),
  count: count.describe('The number of items on this page.'),
  after: z.string().nullable().describe('Send it as `after` to get the next page; null on the last page.'),
  filtered_nsfw: count.describe('How many items were omitted from this page because they are NSFW.').meta(example(0)),
  degraded: z
    .boolean()
    .describe(
      'true: the forum could not be reached and this is an older copy, or items that could not be read are omitted.',
    ),
};
const within = {
  subreddit: z
    .string()
    .nullable()
    .describe('The requested community; null when there is none.')
    .meta(example('Coffee')),
};

export const postListing = z.strictObject({ ...within, ...envelope, items: z.array(post) }).meta({ id: 'Listing' });
export const commentListing = z
  .strictObject({ ...within, ...envelope, items: z.array(commentItem) })
  .meta({ id: 'CommentListing' });
export const subredditListing = z
  .strictObject({ ...envelope, items: z.array(subreddit) })
  .meta({ id: 'SubredditListing' });
export const userListing = z.strictObject({ ...envelope, items: z.array(forumUser) }).meta({ id: 'UserListing' });

export const thingItem = z
  .union([
    z.strictObject({ kind: z.literal('post'), post }),
    z.strictObject({ kind: z.literal('comment'), comment: commentItem }),
  ])
  .meta({ id: 'ThingItem' });
export const thingsResponse = z
  .strictObject({
    items: z.array(thingItem).describe('In the requested order.'),
    missing: z
      .array(z.string())
      .describe('The requested items that do not exist, as written in the request.')
      .meta(example(['t3_zzzzzzz'])),
  })
  .meta({ id: 'ThingsResponse' });

export type PostListing = z.infer<typeof postListing>;
export type CommentListing = z.infer<typeof commentListing>;
export type SubredditListing = z.infer<typeof subredditListing>;
export type UserListing = z.infer<typeof userListing>;
export type ThingsResponse = z.infer<typeof thingsResponse>;
