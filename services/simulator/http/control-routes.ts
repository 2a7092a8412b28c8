import { z } from 'zod';
import type { Access } from './access.ts';
import type { Answer } from './answer.ts';
import { ok } from './answer.ts';
import { communityNamed, isReadable } from '../content/communities.ts';
import { faultSchema } from './faults.ts';
import type { Faults } from './faults.ts';
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
});

export interface ControlDeps {
  world: World;
  faults: Faults;
  access: Access;
}

/** Routes under /simulator/, for tests and demonstrations. They need no token, count no call and ignore faults. */
export function controlRoute(deps: ControlDeps, method: string, path: string, body: unknown): Answer {
  const { world, faults, access } = deps;
  const now = world.now();
  if (path === '/simulator/stats' && method === 'GET') return ok(stats(world));
  if (path === '/simulator/emit' && method === 'POST') return emitRoute(world, body);
  if (path !== '/simulator/faults') return refused(404, 'no such control route');
  if (method === 'DELETE') faults.clear();
  else if (method === 'POST') {
    const fault = faultSchema.safeParse(body);
    if (!fault.success) return refused(400, z.prettifyError(fault.error));
    if (fault.data.kind === 'expired-tokens') access.revokeAll(now);
    else faults.add(fault.data, now);
  } else if (method !== 'GET') return refused(405, 'GET, POST or DELETE');
  return ok({ faults: faults.list(now) });
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

function emitRoute(world: World, body: unknown): Answer {
  const parsed = emitSchema.safeParse(body);
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error));
  const { kind, title, text, subreddit, author, over_18, post: postName, parent: parentName } = parsed.data;
  const { timeline, emission, catalog } = world;
  if (kind === 'post') {
    if (title === undefined) return refused(400, 'a post needs a title');
    const community = communityNamed(subreddit);
    if (!community || !isReadable(community)) return refused(400, `no such community: ${subreddit}`);
    const k = emission.inject({
      kind,
      title,
      text,
      author,
      subreddit: community.name,
      over_18,
      post: null,
      parent: null,
    });
    return ok(emitted(world, k));
  }
  const newest = world.index.newest('post', 'all', 1)[0] ?? slotOfPost(timeline.seed, 0);
  const post = postName === undefined ? newest : timeline.find(postName, world.now());
  if (post === undefined || timeline.item(post).kind !== 'post') return refused(400, 'no such post');
  const parent = parentName === undefined ? post : timeline.find(parentName, world.now());
  const isInThread =
    parent === post ||
    (parent !== undefined && timeline.item(parent).kind === 'comment' && catalog.comment(parent).post.k === post);
  if (parent === undefined || !isInThread) return refused(400, 'no such parent in this thread');
  const home = catalog.post(post).community.name;
  const item = { kind, title: '', text, author, subreddit: home, over_18: catalog.post(post).over18, post, parent };
  return ok(emitted(world, emission.inject(item)));
}

function emitted(world: World, k: number): object {
  const { timeline, catalog } = world;
  const isPost = timeline.item(k).kind === 'post';
  const post = isPost ? catalog.post(k) : catalog.comment(k).post;
  const permalink = permalinkOf(world, post) + (isPost ? '' : `${timeline.idOf(k)}/`);
  return { name: timeline.nameOf(k), id: timeline.idOf(k), k, at: timeline.emittedAt(k), permalink };
}
