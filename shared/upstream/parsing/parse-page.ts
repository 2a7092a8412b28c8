import { z } from 'zod';
import { UpstreamError } from '../upstream-error.ts';

const listing = z.object({
  kind: z.literal('Listing'),
  data: z.object({
    after: z.string().nullish(),
    children: z.array(z.object({ kind: z.string(), data: z.unknown() })),
  }),
});

/** One page of a listing, with one or more kinds of things. */
export interface ParsedPage<T> {
  children: T[];
  /** Cursor of the next page; null at the end. */
  after: string | null;
  /** Number of children of other kinds, which were skipped. */
  unknown: number;
}

/**
 * Parses a page for the reading routes. One child of unknown shape fails the whole page, so that no page has a hole.
 * The crawler uses parseListing instead, because it must not lose the other items.
 *
 * @param schemas by kind (t1, t2, t3, t5), for each child's `data`
 * @throws UpstreamError broken when the shape is unknown; the message names the path
 */
export function parsePage<K extends string, S extends Record<K, z.ZodType>>(
  value: unknown,
  schemas: S,
): ParsedPage<{ [Kind in keyof S]: { kind: Kind; data: z.output<S[Kind]> } }[keyof S]> {
  type Child = { [Kind in keyof S]: { kind: Kind; data: z.output<S[Kind]> } }[keyof S];
  const { data } = parseAnswer(listing, value);
  const page: ParsedPage<Child> = { children: [], after: data.after || null, unknown: 0 };
  for (const [index, child] of data.children.entries()) {
    const schema = Object.hasOwn(schemas, child.kind) ? schemas[child.kind as K] : undefined;
    if (schema === undefined) page.unknown++;
    else
      page.children.push({
        kind: child.kind,
        data: parseAnswer(schema, child.data, `data.children.${index}.data`),
      } as Child);
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
  const issue = parsed.error.issues[0];
  const errorPath = [path, ...(issue?.path ?? []).map(String)].filter((part) => part !== '').join('.');
  const message = `the forum's response has an unknown shape at "${errorPath}": ${issue?.message ?? ''}`;
  throw new UpstreamError('broken', message, { reason: 'shape' });
}
