import { z } from 'zod';
import { bareId, fullname, LATE_AFTER_MS } from '../../schemas/messages/forum-item.ts';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import { UpstreamError } from './upstream-error.ts';

/**
 * The fields of the forum's things, for every reader of them. A thing without a needed field is malformed. The schemas
 * of all others never fail: `false`, `null`, another type and half of an object count as absent, and a default stands
 * in.
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

export const listing = z.object({
  kind: z.literal('Listing'),
  data: z.object({ after: z.string().nullish(), children: z.array(z.unknown()) }),
});
/** Any child of a Listing. */
export const node = z.object({ kind: z.string(), data: z.unknown() });

/** A thing that cannot be read: where it is in the answer, and why, without its content. */
export interface ShapeFault {
  /** Such as `data.children.3.data.created_utc`. */
  path: string;
  message: string;
}

/** A child of a listing that could not be parsed, as it was received. */
export interface ChildFault extends ShapeFault {
  raw: unknown;
}

/** One page of a listing, with one or more kinds of things. */
export interface ParsedPage<T> {
  children: T[];
  /** Cursor of the next page; null at the end. */
  after: string | null;
  /** Children that cannot be read. They are never silently dropped: the caller counts, logs and keeps them. */
  faults: ChildFault[];
  /** Children of other kinds, with their counts. */
  unknownKinds: Map<string, number>;
}

type Schemas = Record<string, z.ZodType>;
type ChildOf<S extends Schemas> = { [Kind in keyof S]: { kind: Kind; data: z.output<S[Kind]> } }[keyof S];
type ParsedNode<T> =
  { outcome: 'thing'; thing: T } | { outcome: 'unknown_kind'; kind: string } | { outcome: 'fault'; fault: ShapeFault };
export type ParsedThing = ParsedNode<Thing>;

/**
 * All texts of a thing together. The forum's own limits are far below. JSON takes at most 6 bytes for a character, so
 * that a candidate with the thing fits into a record of 4 MiB.
 */
const MAX_CHARACTERS = 400_000;

/**
 * Parses a page of a listing. One child of unknown shape does not hide the others.
 *
 * @param schemas by kind (t1, t2, t3, t5), for each child's `data`
 * @throws UpstreamError broken when the answer is no Listing; the message names the path
 */
export function parsePage<S extends Schemas>(value: unknown, schemas: S): ParsedPage<ChildOf<S>> {
  return parseChildren(value, (child, path) => parseNode(child, schemas, path));
}

export type ParsedListing = Omit<ParsedPage<Thing>, 'children' | 'after'> & {
  things: Thing[];
  after: string | undefined;
};

/** Parses a Listing of posts and comments in the same way. */
export function parseListing(value: unknown): ParsedListing {
  const { children: things, after, ...page } = parseChildren(value, parseThing);
  return { things, after: after ?? undefined, ...page };
}

/**
 * Parses one `{kind, data}` node.
 *
 * @param path where it was found
 */
export function parseThing(value: unknown, path: string): ParsedThing {
  const parsed: ParsedThing = parseNode(value, { t3: postData, t1: commentData }, path);
  if (parsed.outcome !== 'thing') return parsed;
  let characters = 0;
  for (const field of Object.values(parsed.thing.data)) if (typeof field === 'string') characters += field.length;
  if (characters <= MAX_CHARACTERS) return parsed;
  const message = `has ${characters} characters; at most ${MAX_CHARACTERS} are taken`;
  return { outcome: 'fault', fault: { path: joined(path, 'data'), message } };
}

function parseChildren<T>(value: unknown, parse: (child: unknown, path: string) => ParsedNode<T>): ParsedPage<T> {
  const { data } = parseAnswer(listing, value);
  const page: ParsedPage<T> = { children: [], after: data.after || null, faults: [], unknownKinds: new Map() };
  for (const [index, child] of data.children.entries()) {
    const parsed = parse(child, `data.children.${index}`);
    if (parsed.outcome === 'thing') page.children.push(parsed.thing);
    else if (parsed.outcome === 'fault') page.faults.push({ ...parsed.fault, raw: child });
    else countKind(page.unknownKinds, parsed.kind);
  }
  return page;
}

function parseNode<S extends Schemas>(value: unknown, schemas: S, path: string): ParsedNode<ChildOf<S>> {
  const shell = node.safeParse(value);
  if (!shell.success) return { outcome: 'fault', fault: shapeFault(shell.error, path) };
  const { kind, data } = shell.data;
  if (!Object.hasOwn(schemas, kind)) return { outcome: 'unknown_kind', kind };
  const parsed = schemas[kind]!.safeParse(data);
  if (!parsed.success) return { outcome: 'fault', fault: shapeFault(parsed.error, joined(path, 'data')) };
  return { outcome: 'thing', thing: { kind, data: parsed.data } as ChildOf<S> };
}

export function countKind(kinds: Map<string, number>, kind: string): void {
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
}

/**
 * Parses a response, or a part of one.
 *
 * @param path where the part was found
 * @throws UpstreamError broken when the shape is unknown; the message names the path and contains nothing of the
 * content
 */
export function parseAnswer<S extends z.ZodType>(schema: S, value: unknown, path = ''): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fault = shapeFault(parsed.error, path);
  const message = `the forum's response has an unknown shape at "${fault.path}": ${fault.message}`;
  throw new UpstreamError('broken', message, { reason: 'shape' });
}

/** The first problem of a part that was found at this path. */
export function shapeFault(error: z.ZodError, path: string): ShapeFault {
  const [issue] = error.issues;
  return { path: joined(path, ...(issue?.path ?? []).map(String)), message: issue?.message ?? 'unknown shape' };
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('.');
}

/** The fields that a comment needs from its post. */
export interface PostOfComment {
  title: string;
  nsfw: boolean;
}

export interface ItemOrigin {
  /** Name of the crawl source. */
  source: string;
  replay: boolean;
  /** Milliseconds since 1970. */
  firstSeenAt: number;
  /** URL of the public site, without a trailing slash. Permalinks begin with it. */
  siteUrl: string;
}

/** Whether a comment has the title and NSFW flag of its post, as in user, community and site listings. */
export function hasPostDetails(comment: CommentData): boolean {
  return !!comment.link_title && typeof comment.over_18 === 'boolean';
}

/**
 * Converts a post or comment to the service's own format. The comment's own title and NSFW flag take precedence over
 * `post`. When neither has them, the title is empty and the comment counts as NSFW, because showing it to a monitor
 * without NSFW would be the worse mistake.
 */
export function thingToForumItem(thing: Thing, origin: ItemOrigin, post?: PostOfComment): ForumItem {
  const shared = {
    v: 1 as const,
    thing_id: fullnameOf(thing),
    subreddit: thing.data.subreddit ?? '',
    author: thing.data.author,
    created_utc: new Date(thing.data.created_utc * 1000).toISOString(),
    source: origin.source,
    replay: origin.replay,
    first_seen_at: new Date(origin.firstSeenAt).toISOString(),
    score: thing.data.score,
    ...(isLate(thing, origin) ? { late: true as const } : {}),
  };
  return thing.kind === 't3'
    ? { ...shared, ...postFields(thing.data, origin.siteUrl) }
    : { ...shared, ...commentItemFields(thing.data, origin.siteUrl, post) };
}

function isLate(thing: Thing, { replay, firstSeenAt }: ItemOrigin): boolean {
  return !replay && firstSeenAt - thing.data.created_utc * 1000 > LATE_AFTER_MS;
}

function postFields(data: PostData, siteUrl: string) {
  const permalink = absolute(siteUrl, permalinkOf(data));
  const target = data.is_self === true || !data.url ? permalink : absolute(siteUrl, data.url);
  return {
    kind: 'post' as const,
    post_id: data.id,
    parent_id: null,
    title: data.title,
    body: data.selftext,
    permalink,
    nsfw: data.over_18,
    num_comments: data.num_comments ?? null,
    url: target,
  };
}

function commentItemFields(data: CommentData, siteUrl: string, post: PostOfComment | undefined) {
  const path = data.permalink ?? `/r/${data.subreddit}/comments/${data.post_id}/_/${data.id}/`;
  return {
    kind: 'comment' as const,
    post_id: data.post_id,
    parent_id: data.parent_id,
    title: data.link_title || (post?.title ?? ''),
    body: data.body,
    permalink: absolute(siteUrl, path),
    nsfw: data.over_18 ?? post?.nsfw ?? true,
    num_comments: null,
    url: null,
  };
}

function absolute(siteUrl: string, path: string): string {
  return path.startsWith('/') && !path.startsWith('//') ? siteUrl + path : path;
}
