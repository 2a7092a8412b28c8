import { z } from 'zod';
import { UpstreamError } from '../upstream-error.ts';

const listing = z.object({
  kind: z.literal('Listing'),
  data: z.object({ after: z.string().nullish(), children: z.array(z.unknown()) }),
});
const node = z.object({ kind: z.string(), data: z.unknown() });

/** A thing that cannot be read: where it is in the answer, and why, without its content. */
export interface ShapeFault {
  /** Such as `data.children.3.data.created_utc`. */
  path: string;
  message: string;
}

/** One page of a listing, with one or more kinds of things. */
export interface ParsedPage<T> {
  children: T[];
  /** Cursor of the next page; null at the end. */
  after: string | null;
  /** Children that cannot be read. The caller counts and logs them. */
  faults: ShapeFault[];
}

/**
 * Parses a page for the reading routes. Children of other kinds are skipped, and one that cannot be read does not hide
 * the others.
 *
 * @param schemas by kind (t1, t2, t3, t5), for each child's `data`
 * @throws UpstreamError broken when the answer is no Listing; the message names the path
 */
export function parsePage<K extends string, S extends Record<K, z.ZodType>>(
  value: unknown,
  schemas: S,
): ParsedPage<{ [Kind in keyof S]: { kind: Kind; data: z.output<S[Kind]> } }[keyof S]> {
  type Child = { [Kind in keyof S]: { kind: Kind; data: z.output<S[Kind]> } }[keyof S];
  const { data } = parseAnswer(listing, value);
  const page: ParsedPage<Child> = { children: [], after: data.after || null, faults: [] };
  for (const [index, child] of data.children.entries()) {
    const path = `data.children.${index}`;
    const shell = node.safeParse(child);
    if (!shell.success) {
      page.faults.push(shapeFault(shell.error, path));
      continue;
    }
    const { kind, data: fields } = shell.data;
    if (!Object.hasOwn(schemas, kind)) continue;
    const parsed = schemas[kind as K].safeParse(fields);
    if (parsed.success) page.children.push({ kind, data: parsed.data } as Child);
    else page.faults.push(shapeFault(parsed.error, `${path}.data`));
  }
  return page;
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
  const parts = [path, ...(issue?.path ?? []).map(String)];
  return { path: parts.filter((part) => part !== '').join('.'), message: issue?.message ?? 'unknown shape' };
}
