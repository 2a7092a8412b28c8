import { z } from 'zod';
import { UpstreamError } from '../upstream-error.ts';

const listing = z.object({
  kind: z.literal('Listing'),
  data: z.object({
    after: z.string().nullish(),
    children: z.array(z.object({ kind: z.string(), data: z.unknown() })),
  }),
});

/** One page of a listing, of one or more kinds of things. */
export interface ParsedPage<T> {
  children: T[];
  /** Cursor of the next page; null at the end. */
  after: string | null;
  /** Children of other kinds, which were skipped. */
  unknown: number;
}

/**
 * A page for readers: unlike the crawler, which must not lose the other items of a page, they get no page with a hole
 * in it.
 *
 * @param schemas by kind (t1, t2, t3, t5), for each child's `data`
 * @throws UpstreamError broken that names the path where the shape is another
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
 * An answer, or a part of it, by its schema.
 *
 * @param path where the part was found
 * @throws UpstreamError broken that names the path where the shape is another, and holds nothing of the content
 */
export function parseAnswer<S extends z.ZodType>(schema: S, value: unknown, path = ''): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const errorPath = [path, ...(issue?.path ?? []).map(String)].filter((part) => part !== '').join('.');
  const message = `the forum's answer has an unknown shape at "${errorPath}": ${issue?.message ?? ''}`;
  throw new UpstreamError('broken', message, { reason: 'shape' });
}
