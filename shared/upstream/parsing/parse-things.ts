import { z } from 'zod';
import { parseAnswer, shapeFault } from './parse-page.ts';
import type { ShapeFault } from './parse-page.ts';
import type { Thing } from './thing-schema.ts';
import { commentData, postData } from './thing-schema.ts';

/** A child of a listing that could not be parsed, as it was received. */
export interface ChildFault extends ShapeFault {
  raw: unknown;
}

export type ParsedThing =
  | { outcome: 'thing'; thing: Thing }
  | { outcome: 'unknown_kind'; kind: string }
  | { outcome: 'fault'; fault: ShapeFault };

export interface ParsedListing {
  things: Thing[];
  /**
   * Children that could not be parsed. They are never silently dropped: the caller counts, logs and keeps them or
   * refuses the page.
   */
  faults: ChildFault[];
  /** Kinds other than t1 and t3, with their counts. */
  unknownKinds: Map<string, number>;
  /** Cursor of the next page; undefined at the end. */
  after: string | undefined;
}

/**
 * All texts of a thing together. The forum's own limits are far below. JSON takes at most 6 bytes for a character, so
 * that a candidate with the thing fits into a record of 4 MiB.
 */
const MAX_CHARACTERS = 400_000;

const node = z.object({ kind: z.string(), data: z.unknown() });
const listing = z.object({
  kind: z.literal('Listing'),
  data: z.object({ after: z.string().nullish(), children: z.array(z.unknown()) }),
});

/**
 * Parses one `{kind, data}` node.
 *
 * @param path where it was found
 */
export function parseThing(value: unknown, path: string): ParsedThing {
  const shell = node.safeParse(value);
  if (!shell.success) return faultOf(shell.error, path);
  const { kind, data } = shell.data;
  if (kind === 't3') {
    const post = postData.safeParse(data);
    return post.success ? sized({ kind, data: post.data }, path) : faultOf(post.error, joinPath(path, 'data'));
  }
  if (kind === 't1') {
    const comment = commentData.safeParse(data);
    return comment.success ? sized({ kind, data: comment.data }, path) : faultOf(comment.error, joinPath(path, 'data'));
  }
  return { outcome: 'unknown_kind', kind };
}

/**
 * Parses a Listing of posts and comments. Unknown fields are ignored. One child of unknown shape does not hide the
 * others.
 *
 * @throws UpstreamError broken when the Listing itself has an unknown shape; the message names the path
 */
export function parseListing(value: unknown): ParsedListing {
  const { data } = parseAnswer(listing, value);
  const result: ParsedListing = {
    things: [],
    faults: [],
    unknownKinds: new Map(),
    after: data.after ?? undefined,
  };
  for (const [index, child] of data.children.entries()) {
    const entry = parseThing(child, `data.children.${index}`);
    if (entry.outcome === 'thing') result.things.push(entry.thing);
    else if (entry.outcome === 'fault') result.faults.push({ ...entry.fault, raw: child });
    else result.unknownKinds.set(entry.kind, (result.unknownKinds.get(entry.kind) ?? 0) + 1);
  }
  return result;
}

function sized(thing: Thing, path: string): ParsedThing {
  let characters = 0;
  for (const value of Object.values(thing.data)) if (typeof value === 'string') characters += value.length;
  if (characters <= MAX_CHARACTERS) return { outcome: 'thing', thing };
  const message = `has ${characters} characters; at most ${MAX_CHARACTERS} are taken`;
  return { outcome: 'fault', fault: { path: joinPath(path, 'data'), message } };
}

function faultOf(error: z.ZodError, path: string): ParsedThing {
  return { outcome: 'fault', fault: shapeFault(error, path) };
}

function joinPath(outer: string, inner: string): string {
  return outer === '' ? inner : `${outer}.${inner}`;
}
