import { z } from 'zod';
import type { Access } from './access.ts';
import type { RouteResponse } from './route.ts';
import { ok } from './route.ts';
import { isReadable } from '../content/community-directory.ts';
import { slotOfPost } from '../timeline/timeline.ts';
import { permalinkOf } from '../content/render.ts';
import type { World } from '../world.ts';
import type { Thing } from '../content/render.ts';

const faultSchema = z.strictObject({
  kind: z.enum([
    'outage',
    '429',
    'html403',
    'slow',
    'truncated',
    '5xx',
    'expired-tokens',
    'stale',
    'duplicates',
    'more',
  ]),
  /** With `count`: whichever comes first. Without both, only DELETE ends it. */
  seconds: z.number().positive().optional(),
  count: z.int().positive().optional(),
  /** Affects only paths with this prefix, including the token endpoint's. */
  path: z.string().startsWith('/').optional(),
  /** 429: the Retry-After header, in seconds. */
  retry_after: z.number().min(0).default(5),
  /** slow: the delay of a response. */
  delay_ms: z.int().min(0).max(120_000).default(12_000),
  /** stale: how old the listing is. */
  age_ms: z.int().min(1).max(3_600_000).default(10_000),
  /** 5xx: the status. */
  status: z.int().min(500).max(599).default(503),
});

export type Fault = z.infer<typeof faultSchema>;

interface Active {
  fault: Fault;
  until: number;
  left: number;
}

export class Faults {
  private active: Active[] = [];

  add(fault: Fault, now: number): void {
    const until = fault.seconds === undefined ? Infinity : now + fault.seconds * 1000;
    this.active.push({ fault, until, left: fault.count ?? Infinity });
  }

  clear(): void {
    this.active = [];
  }

  list(now: number): object[] {
    this.prune(now);
    return this.active.map(({ fault, until, left }) => ({
      ...fault,
      seconds_left: until === Infinity ? null : (until - now) / 1000,
      count_left: left === Infinity ? null : left,
    }));
  }

  private prune(now: number): void {
    this.active = this.active.filter((entry) => entry.until > now && entry.left > 0);
  }

  take(path: string, now: number): Fault | undefined {
    this.prune(now);
    const entry = this.active.find(({ fault }) => path.startsWith(fault.path ?? '/'));
    if (entry) entry.left--;
    return entry?.fault;
  }
}

const oddShapeSchema = z.strictObject({
  name: z.string().regex(/^t[13]_[0-9a-z]{1,13}$/),
  field: z.string().min(1),
  /** Any JSON; left out: the field is missing. */
  value: z.unknown().optional(),
});

type OddShape = z.infer<typeof oddShapeSchema>;

/** Items that every answer shows with an unknown shape: one of their fields has another value or is missing. */
export class OddShapes {
  private readonly shapes = new Map<string, OddShape>();

  add(shape: OddShape): void {
    this.shapes.set(shape.name, shape);
  }

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

/** Puts a `more` stub for the first child into the middle of a flat listing, where the upstream has none. */
export function insertMore(body: unknown): void {
  if (!isFlatListing(body) || body.data.children.length === 0) return;
  const { children } = body.data;
  const { name, id, parent_id = null } = children[0]!.data;
  const stub = { kind: 'more', data: { count: 1, name, id, parent_id, depth: 0, children: [id] } };
  children.splice(children.length >> 1, 0, stub);
}

const emitSchema = z.strictObject({
  kind: z.enum(['post', 'comment']),
  title: z.string().min(1).max(300).optional(),
  text: z.string().max(40_000).default(''),
  subreddit: z.string().default('programming'),
  author: z.string().min(3).max(20).default('simulator_user'),
  over_18: z.boolean().default(false),
  /** Comments: the fullnames of the post (default: the newest post) and of the parent (default: the post). */
  post: z.string().optional(),
  parent: z.string().optional(),
  /** The creation time that answers state, in seconds since 1970, if it is not the present. */
  created_utc: z.number().optional(),
  /** An unknown shape of the item from its first answer on. */
  shape: oddShapeSchema.omit({ name: true }).optional(),
});

const rateSchema = z.strictObject({ rate: z.number().min(0).max(20_000) });

export interface ControlDeps {
  world: World;
  faults: Faults;
  oddShapes: OddShapes;
  access: Access;
}

interface ControlRequest {
  method: string;
  path: string;
  body: unknown;
}

/** Routes under /simulator/, for tests and demonstrations. They need no token, count no call and ignore faults. */
export function controlRoute(deps: ControlDeps, { method, path, body }: ControlRequest): RouteResponse {
  const { world } = deps;
  switch (`${method} ${path}`) {
    case 'GET /simulator/stats':
      return ok(stats(world));
    case 'POST /simulator/emit':
      return emitRoute(deps, body);
    case 'POST /simulator/rate':
      return rateRoute(world, body);
  }
  if (path === '/simulator/faults') return faultsRoute(deps, method, body);
  return refused(404, 'no such control route');
}

function faultsRoute({ world, faults, access }: ControlDeps, method: string, body: unknown): RouteResponse {
  const now = world.now();
  if (method === 'DELETE') faults.clear();
  else if (method === 'POST') {
    const fault = faultSchema.safeParse(body);
    if (!fault.success) return refused(400, z.prettifyError(fault.error));
    if (fault.data.kind === 'expired-tokens') access.revokeAll(now);
    else faults.add(fault.data, now);
  } else if (method !== 'GET') return refused(405, 'GET, POST or DELETE');
  return ok({ faults: faults.list(now) });
}

function rateRoute(world: World, body: unknown): RouteResponse {
  const parsed = rateSchema.safeParse(body);
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error));
  world.emission.setRate(parsed.data.rate);
  return ok(parsed.data);
}

function refused(status: number, message: string): RouteResponse {
  return { status, body: { error: message } };
}

function stats(world: World): object {
  const { timeline, emission } = world;
  const run = timeline.runs.at(-1)!;
  const { first, rate, ids } = run;
  return {
    seed: timeline.seed,
    first_k: emission.firstSlot,
    run_first_k: first,
    next_k: timeline.frontier,
    emitted: emission.emitted,
    finished: emission.finished,
    rate,
    comment_ids: ids,
    runs: timeline.runs.length,
    injected: timeline.injected.size,
  };
}

type EmitRequest = z.infer<typeof emitSchema>;
type NewItem = Parameters<World['emission']['inject']>[0];

function emitRoute({ world, oddShapes }: ControlDeps, body: unknown): RouteResponse {
  const parsed = emitSchema.safeParse(body);
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error));
  const item = parsed.data.kind === 'post' ? newPost(world, parsed.data) : newComment(world, parsed.data);
  if (typeof item === 'string') return refused(400, item);
  const { created_utc, shape } = parsed.data;
  const created = created_utc === undefined ? {} : { created: created_utc * 1000 };
  const k = world.emission.inject({ ...item, ...created });
  if (shape) oddShapes.add({ ...shape, name: world.timeline.nameOf(k) });
  return ok(emitted(world, k));
}

function newPost(world: World, { title, text, author, subreddit, over_18 }: EmitRequest): NewItem | string {
  if (title === undefined) return 'a post needs a title';
  const community = world.communities.named(subreddit);
  if (!community || !isReadable(community)) return `no such community: ${subreddit}`;
  return { kind: 'post', title, text, author, subreddit: community.name, over_18, post: null, parent: null };
}

function newComment(world: World, request: EmitRequest): NewItem | string {
  const { timeline, catalog } = world;
  const newest = world.index.newest('post', 'all', 1)[0] ?? slotOfPost(timeline.seed, 0);
  const post = request.post === undefined ? newest : timeline.find(request.post, world.now());
  if (post === undefined || timeline.item(post).kind !== 'post') return 'no such post';
  const parent = request.parent === undefined ? post : timeline.find(request.parent, world.now());
  const isInThread =
    parent === post ||
    (parent !== undefined && timeline.item(parent).kind === 'comment' && catalog.comment(parent).post.k === post);
  if (parent === undefined || !isInThread) return 'no such parent in this thread';
  const { community, over18: over_18 } = catalog.post(post);
  const { text, author } = request;
  return { kind: 'comment', title: '', text, author, subreddit: community.name, over_18, post, parent };
}

function emitted(world: World, k: number): object {
  const { timeline, catalog } = world;
  const isPost = timeline.item(k).kind === 'post';
  const post = isPost ? catalog.post(k) : catalog.comment(k).post;
  const permalink = permalinkOf(world, post) + (isPost ? '' : `${timeline.idOf(k)}/`);
  return { name: timeline.nameOf(k), id: timeline.idOf(k), k, at: timeline.emittedAt(k), permalink };
}
