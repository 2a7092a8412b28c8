import { z } from 'zod';
import type { Access } from './access.ts';
import type { Answer } from './answer.ts';
import { ok } from './answer.ts';
import { isReadable } from '../content/communities.ts';
import { faultSchema } from './faults.ts';
import type { Faults } from './faults.ts';
import { oddShapeSchema } from './odd-shapes.ts';
import type { OddShapes } from './odd-shapes.ts';
import { slotOfPost } from '../timeline/numbering.ts';
import { permalinkOf } from '../render/render-post.ts';
import type { World } from '../world.ts';

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

export interface ControlRequest {
  method: string;
  path: string;
  /** The JSON of the body. */
  body: unknown;
}

/** Routes under /simulator/, for tests and demonstrations. They need no token, count no call and ignore faults. */
export function controlRoute(deps: ControlDeps, { method, path, body }: ControlRequest): Answer {
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

function faultsRoute({ world, faults, access }: ControlDeps, method: string, body: unknown): Answer {
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

function rateRoute(world: World, body: unknown): Answer {
  const parsed = rateSchema.safeParse(body);
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error));
  world.emission.setRate(parsed.data.rate);
  return ok(parsed.data);
}

function refused(status: number, message: string): Answer {
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

function emitRoute({ world, oddShapes }: ControlDeps, body: unknown): Answer {
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

/** Returns the reason when the request makes no post. */
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
