import { z } from 'zod';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import { FORUM_COMMENTS, FORUM_POSTS } from '../../schemas/messages/topics.ts';
import type { ConsumedRecord } from '../kafka/consumed-batch.ts';
import { DEAD_LETTER_HEADER_PREFIX } from '../kafka/dead-letters.ts';
import type { OutgoingRecord } from '../kafka/publisher.ts';
import { parseThing, thingToForumItem } from './parse-things.ts';
import type { PostOfComment, ShapeFault } from './parse-things.ts';

/** An item is some kilobytes long; a post with a large gallery and its original about a hundred. */
const MAX_RAW_BYTES = 256 * 1024;
const MAX_REASON_CHARACTERS = 1_000;
/** The step of such a letter, in place of a consumer group's. */
const SHAPE_STEP = 'shape';

/** A post or comment that the forum sent in a shape that this service does not know. */
export interface MalformedItem {
  kind: 't1' | 't3';
  /** The fullname; undefined when the item does not say it. */
  name: string | undefined;
  /** The `{kind, data}` as it was received. */
  raw: unknown;
}

/** When and where the crawler received it. */
export interface ItemSighting {
  /** Name of the crawl source. */
  source: string;
  /** Milliseconds since 1970. */
  firstSeenAt: number;
  /** What was known of the comment's post. */
  post: PostOfComment | undefined;
}

const identified = z.object({
  kind: z.string().optional(),
  data: z.object({ id: z.unknown().optional(), name: z.unknown().optional() }),
});
const knownPost = z.object({ title: z.string(), nsfw: z.boolean() });

/** Says what a malformed child of a listing is. Undefined when it is neither a post nor a comment. */
export function identifyItem(raw: unknown): MalformedItem | undefined {
  const parsed = identified.safeParse(raw);
  if (!parsed.success) {
    const kind = typeof raw === 'object' && raw !== null && 'kind' in raw ? raw.kind : undefined;
    return kind === 't1' || kind === 't3' ? { kind, name: undefined, raw } : undefined;
  }
  const { kind: stated, data } = parsed.data;
  const name = [data.name, typeof data.id === 'string' ? `${stated ?? ''}_${data.id}` : undefined].find(isFullname);
  const kind = stated ?? name?.slice(0, 2);
  return kind === 't1' || kind === 't3' ? { kind, name, raw } : undefined;
}

function isFullname(value: unknown): value is string {
  return typeof value === 'string' && /^t[13]_[0-9A-Za-z]{1,13}$/.test(value);
}

/** The bare id of the post that a malformed comment belongs to, if it says it. */
export function postIdOfMalformed({ raw }: MalformedItem): string | undefined {
  const { data } = raw as { data?: { link_id?: unknown } };
  return isFullname(data?.link_id) ? data.link_id.slice(3) : undefined;
}

/** The dead letter that keeps a malformed item, with everything that its replay needs. */
export function toItemLetter(
  { kind, name, raw }: MalformedItem,
  fault: ShapeFault,
  sight: ItemSighting,
): { topic: string; record: OutgoingRecord } {
  const topic = kind === 't3' ? FORUM_POSTS.name : FORUM_COMMENTS.name;
  const bytes = Buffer.from(JSON.stringify(raw));
  const isCut = bytes.length > MAX_RAW_BYTES;
  const about = {
    topic,
    timestamp: String(sight.firstSeenAt),
    group: 'crawler',
    step: SHAPE_STEP,
    source: sight.source,
    reason: describe(fault) + (isCut ? ` (only the first ${MAX_RAW_BYTES} of ${bytes.length} bytes are kept)` : ''),
    ...(sight.post && { post: JSON.stringify({ title: sight.post.title, nsfw: sight.post.nsfw }) }),
  };
  const headers = Object.entries(about).map(([field, value]) => [DEAD_LETTER_HEADER_PREFIX + field, value] as const);
  const value = isCut ? bytes.subarray(0, MAX_RAW_BYTES) : bytes;
  return { topic, record: { key: name ?? `${kind}_`, value, headers: Object.fromEntries(headers) } };
}

export type ReadLetter =
  /** Not a letter of a malformed item. */
  { outcome: 'other' } | { outcome: 'item'; item: ForumItem } | { outcome: 'malformed'; reason: string };

/** Parses the item of a dead letter again; the item is as if it had parsed when it was first seen. */
export function readItemLetter(letter: Pick<ConsumedRecord, 'value' | 'headers'>, siteUrl: string): ReadLetter {
  const header = (name: string): string | undefined => letter.headers[DEAD_LETTER_HEADER_PREFIX + name]?.toString();
  if (header('step') !== SHAPE_STEP) return { outcome: 'other' };
  const raw = parseJson(letter.value.toString());
  // What is left of an item that was too large.
  if (raw === undefined) return { outcome: 'malformed', reason: header('reason') ?? 'the letter is not JSON' };
  const parsed = parseThing(raw, '');
  if (parsed.outcome === 'unknown_kind') return { outcome: 'malformed', reason: `the kind ${parsed.kind} is unknown` };
  if (parsed.outcome === 'fault') return { outcome: 'malformed', reason: describe(parsed.fault) };
  const firstSeenAt = Number(header('timestamp'));
  if (!Number.isFinite(firstSeenAt)) return { outcome: 'malformed', reason: 'the letter has no time' };
  const post = knownPost.safeParse(parseJson(header('post') ?? ''));
  const origin = { source: header('source') ?? 'listings', replay: false, firstSeenAt, siteUrl };
  return { outcome: 'item', item: thingToForumItem(parsed.thing, origin, post.success ? post.data : undefined) };
}

function describe({ path, message }: ShapeFault): string {
  return `${path === '' ? 'the item' : path}: ${message}`.slice(0, MAX_REASON_CHARACTERS);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
