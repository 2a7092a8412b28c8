import { z } from 'zod';
import { bareId, fullname } from '../../schemas/messages/forum-item.ts';

/**
 * What each field of the forum's things is worth, for every reader of them. A field is either needed, and then a thing
 * without it cannot be read, or its schema is one of those below that never fail: `false`, `null`, another type and
 * half of an object all count as absent, and something stands in.
 *
 * | thing     | needed                                                                                        |
 * | --------- | --------------------------------------------------------------------------------------------- |
 * | post      | `id`, `created_utc`, `title`, and `subreddit` unless it is an advertisement                     |
 * | comment   | `id`, `created_utc`, `body`, `parent_id`, the post's id; outside of a thread `subreddit`        |
 * | community | `display_name`                                                                                |
 * | account   | `name`                                                                                        |
 *
 * | field                                              | what stands in                                        |
 * | -------------------------------------------------- | ----------------------------------------------------- |
 * | numbers, flags, texts                              | 0, false, an empty text                               |
 * | `selftext` that is absent, null or false           | an empty text; any other shape cannot be read         |
 * | `author`                                           | `[deleted]`                                           |
 * | `over_18` of a post or comment                     | true: showing it to somebody who wants none is worse  |
 * | `permalink`                                        | the same address by the thing's id                    |
 * | `created_utc` of a community; of its rules         | 1970; the community's                                 |
 * | `created_utc` of an account                        | null                                                  |
 * | media, poll, original of a crosspost, flair, rules | none; of several, those that can be read              |
 */

/** A number that JSON carries exactly. */
const exact = z.number().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);

/** A whole number; fractions are truncated. 0 stands in. */
const integer = exact.transform(Math.trunc).catch(0);

/** Like `integer`, and never below 0. */
export const count = integer.transform((value) => Math.max(0, value));

/** False stands in. */
export const flag = z.boolean().catch(false);

/** An empty text stands in. */
export const text = z.string().catch('');

/** A text that matters: none where there is no text, but a shape that is not known is not taken for an empty one. */
const content = z
  .union([z.string(), z.null(), z.literal(false)])
  .optional()
  .transform((value) => value || '');

/** Undefined stands in for what the schema does not accept. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.optional().catch(undefined);
}

/** The elements that can be read; none where it is no array. */
export function readable<S extends z.ZodType>(element: S) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((values) =>
      values.flatMap((value): z.output<S>[] => {
        const parsed = element.safeParse(value);
        return parsed.success ? [parsed.data] : [];
      }),
    );
}

/** The year 10000, from which ISO dates need more than four digits. */
const END_OF_TIME_SECONDS = 253_402_300_800;

/** Seconds since 1970, needed: a float in the API, sometimes a string in dumps. */
export const seconds = z
  .union([z.number(), z.string().regex(/^\d{1,12}(\.\d+)?$/)])
  .transform(Number)
  .pipe(z.number().min(0).lt(END_OF_TIME_SECONDS));

/** null and absent both mean that the account was deleted. */
const author = z.string().catch('[deleted]');

/**
 * The fields of a post's `data` that this service needs; all others are ignored. The reading routes extend it. Only an
 * advertisement (`promoted`) has no community.
 */
export const postData = z
  .object({
    id: bareId,
    author,
    subreddit: optional(z.string()),
    promoted: optional(z.boolean()),
    created_utc: seconds,
    title: z.string(),
    selftext: content,
    over_18: z.boolean().catch(true),
    permalink: optional(z.string()),
    url: optional(z.string()),
    is_self: optional(z.boolean()),
    score: integer,
    num_comments: optional(z.number().int()),
  })
  .refine((post) => post.subreddit !== undefined || post.promoted === true, {
    path: ['subreddit'],
    message: 'is missing',
  });

/** The fields of a comment's `data` that this service needs. Threads lack link_title and over_18. */
export const commentFields = z.object({
  id: bareId,
  author,
  subreddit: z.string(),
  subreddit_id: optional(z.string()),
  created_utc: seconds,
  body: z.string(),
  parent_id: fullname,
  link_id: optional(fullname),
  link_title: optional(z.string()),
  over_18: optional(z.boolean()),
  permalink: optional(z.string()),
  context: optional(z.string()),
  score: integer,
});

/**
 * Adds the post's id from whichever field has it. Inbox listings lack link_id and over_18 but have `context`, a
 * permalink.
 */
export function withPostId<S extends z.ZodType<CommentLocation>>(fields: S) {
  return fields.transform((comment, check) => {
    const postId = postIdOf(comment);
    if (postId !== undefined) return { ...comment, post_id: postId };
    check.addIssue({ code: 'custom', path: ['link_id'], message: 'is missing' });
    return z.NEVER;
  });
}

export const commentData = withPostId(commentFields);

export type PostData = z.infer<typeof postData>;
export type CommentData = z.infer<typeof commentData>;
export type Thing = { kind: 't3'; data: PostData } | { kind: 't1'; data: CommentData };

/** The path of a post's page, or its address. */
export function permalinkOf({ id, permalink }: Pick<PostData, 'id' | 'permalink'>): string {
  return permalink ?? `/comments/${id}/`;
}

/** The fullname: t3_… or t1_…. */
export function fullnameOf(thing: Thing): string {
  return `${thing.kind}_${thing.data.id}`;
}

interface CommentLocation {
  link_id?: string | undefined;
  permalink?: string | undefined;
  context?: string | undefined;
  parent_id: string;
}

function postIdOf(comment: CommentLocation): string | undefined {
  if (comment.link_id !== undefined) return comment.link_id.slice(3);
  const path = comment.permalink ?? comment.context ?? '';
  const fromPath = /\/comments\/([0-9A-Za-z]{1,13})(\/|$)/.exec(path)?.[1];
  return fromPath ?? (comment.parent_id.startsWith('t3_') ? comment.parent_id.slice(3) : undefined);
}
