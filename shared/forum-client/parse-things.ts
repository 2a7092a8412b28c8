import { z } from 'zod';
import { bareId } from '../../schemas/messages/forum-item.ts';
import { isRemovedText } from '../matching/text/item-texts.ts';
import { UpstreamError } from './upstream-error.ts';
import type { Thing } from './thing-schema.ts';
import { commentData, postData, text } from './thing-schema.ts';

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

/** What the forum says now about things that were asked for by name. */
interface ThingStates {
  /** Fullnames of the things in the answer. */
  present: Set<string>;
  /** Of these, the ones whose author deleted them, or that the forum or a moderator removed. */
  removed: Set<string>;
}

const state = z.object({
  kind: z.enum(['t1', 't3']),
  data: z.object({ id: bareId, body: text, selftext: text, removed_by_category: text }),
});

/**
 * Reads which things are gone. Nothing but the fields that say so is parsed, so a new shape of the rest does not hide
 * a removal. A deleted account alone is none: its comments stay.
 *
 * @throws UpstreamError broken when the answer is no Listing
 */
export function findRemoved(body: unknown): ThingStates {
  const states: ThingStates = { present: new Set(), removed: new Set() };
  for (const child of parseAnswer(listing, body).data.children) {
    const parsed = state.safeParse(child);
    if (!parsed.success) continue;
    const { kind, data } = parsed.data;
    const name = `${kind}_${data.id}`;
    states.present.add(name);
    const content = kind === 't1' ? data.body : data.selftext;
    if (isRemovedText(content) || (kind === 't3' && data.removed_by_category)) states.removed.add(name);
  }
  return states;
}
