import { z } from 'zod';
import type { Thing } from '../render/render-post.ts';

export const oddShapeSchema = z.strictObject({
  /** The fullname of the item. */
  name: z.string().regex(/^t[13]_[0-9a-z]{1,13}$/),
  /** The field that gets the value. */
  field: z.string().min(1),
  /** Any JSON; left out: the field is missing. */
  value: z.unknown().optional(),
});

export type OddShape = z.infer<typeof oddShapeSchema>;

/** Items that every answer shows with an unknown shape: one of their fields has another value or is missing. */
export class OddShapes {
  private readonly shapes = new Map<string, OddShape>();

  add(shape: OddShape): void {
    this.shapes.set(shape.name, shape);
  }

  /** Changes the items in the body of an answer, at any depth. */
  apply(body: unknown): void {
    if (this.shapes.size === 0 || typeof body !== 'object' || body === null) return;
    for (const part of Object.values(body)) this.apply(part);
    const { name } = body as { name?: unknown };
    const shape = typeof name === 'string' && 'created_utc' in body ? this.shapes.get(name) : undefined;
    if (shape) Object.assign(body, { [shape.field]: shape.value });
  }
}

interface ListingBody {
  kind: 'Listing';
  data: { children: Thing[]; after: string | null };
}

function isFlatListing(body: unknown): body is ListingBody {
  return typeof body === 'object' && body !== null && (body as { kind?: unknown }).kind === 'Listing';
}

/** Repeats every third child directly, and the first one at the end. Leaves other answers as they are. */
export function duplicateChildren(body: unknown): void {
  if (!isFlatListing(body)) return;
  const { children } = body.data;
  const repeated = children.flatMap((child, index) => (index % 3 === 0 ? [child, child] : [child]));
  body.data.children = [...repeated, ...children.slice(0, 1)];
}

/** Puts a `more` stub for the first child into the middle of a flat listing, where the upstream has only things. */
export function insertMore(body: unknown): void {
  if (!isFlatListing(body) || body.data.children.length === 0) return;
  const { children } = body.data;
  const { name, id, parent_id = null } = children[0]!.data;
  const stub = { kind: 'more', data: { count: 1, name, id, parent_id, depth: 0, children: [id] } };
  children.splice(children.length >> 1, 0, stub);
}
