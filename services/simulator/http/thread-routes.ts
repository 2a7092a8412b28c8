import type { Answer, RouteRequest } from './answer.ts';
import { failure, ok } from './answer.ts';
import type { Post } from '../content/catalog.ts';
import { CommentTree, listingOf } from '../content/comment-tree.ts';
import { pageListing, pageOf } from './listing-routes.ts';
import { renderPost } from '../content/render-post.ts';

const DEFAULT_COMMENTS = 200;
const MAX_COMMENTS = 500;
const DEFAULT_DEPTH = 10;
const MAX_CONTEXT = 8;
const MAX_CHILDREN = 100;
const MAX_THINGS = 200;
const MAX_URL_LENGTH = 4096;
/** A crosspost is at most this many posts after the original. */
const CROSSPOST_REACH = 40;

function wholeNumber(text: string | null, fallback: number, lowest: number, highest: number): number {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) ? fallback : Math.min(highest, Math.max(lowest, value));
}

function postNamed(request: RouteRequest, id: string): Post | undefined {
  const k = request.world.timeline.find(`t3_${id.toLowerCase()}`, request.now);
  return k === undefined ? undefined : request.world.catalog.post(k);
}

/** Answers with the post and its comments; with a comment id, with that comment, its ancestors and its replies. */
export function commentsRoute(request: RouteRequest, id: string, commentId: string | undefined): Answer {
  const { world, query, now } = request;
  const post = postNamed(request, id);
  if (!post) return failure(404);
  const sort = query.get('sort') ?? 'confidence';
  const depth = wholeNumber(query.get('depth'), DEFAULT_DEPTH, 1, DEFAULT_DEPTH);
  const limit = wholeNumber(query.get('limit'), DEFAULT_COMMENTS, 1, MAX_COMMENTS);
  const tree = new CommentTree(world, post, sort, now);
  const head = listingOf([renderPost(world, post.k, now)], null, 1);
  const focus = commentId ?? query.get('comment') ?? undefined;
  if (focus === undefined) return ok([head, listingOf(tree.nested(post.k, { sort, depth, limit }))]);
  const k = world.timeline.find(`t1_${focus.toLowerCase()}`, now);
  if (k === undefined || world.catalog.comment(k).post.k !== post.k) return ok([head, listingOf([])]);
  const context = wholeNumber(query.get('context'), 0, 0, MAX_CONTEXT);
  return ok([head, listingOf(tree.focused(pathTo(request, k, context), { sort, depth, limit }))]);
}

/** The comment and at most `levels` of its ancestors, topmost first. */
function pathTo(request: RouteRequest, k: number, levels: number): number[] {
  const { timeline, threads } = request.world;
  const path = [k];
  while (path.length <= levels) {
    const parent = threads.parentOf(path[0]!);
    if (timeline.item(parent).kind === 'post') break;
    path.unshift(parent);
  }
  return path;
}

export function moreChildrenRoute(request: RouteRequest): Answer {
  const { world, query, now } = request;
  if (request.urlLength > MAX_URL_LENGTH) return failure(414);
  const post = postNamed(request, (query.get('link_id') ?? '').replace(/^t3_/, ''));
  const requestedIds = (query.get('children') ?? '').split(',').filter((id) => id !== '');
  if (!post || requestedIds.length > MAX_CHILDREN) return failure(400);
  const found = requestedIds.map((id) => world.timeline.find(`t1_${id}`, now)).filter((k) => k !== undefined);
  const roots = found.filter((k) => world.catalog.comment(k).post.k === post.k);
  const sort = query.get('sort') ?? 'confidence';
  const tree = new CommentTree(world, post, sort, now);
  const limit = query.get('limit_children') === 'true' ? roots.length : MAX_THINGS;
  const depthOf = (k: number): number => pathTo(request, k, Infinity).length - 1;
  const depth = wholeNumber(query.get('depth'), DEFAULT_DEPTH, 1, DEFAULT_DEPTH);
  return ok({ json: { errors: [], data: { things: tree.flat(roots, depthOf, { sort, depth, limit }) } } });
}

export function duplicatesRoute(request: RouteRequest, id: string): Answer {
  const { world, now } = request;
  const post = postNamed(request, id);
  if (!post) return failure(404);
  const others: number[] = [];
  for (let number = post.number + 1; number <= post.number + CROSSPOST_REACH; number++) {
    const other = world.catalog.postNumbered(number);
    if (other.original === post.number && world.timeline.visibleAt(other.k) <= now) others.unshift(other.k);
  }
  const listing = pageListing(
    others,
    pageOf(request.query),
    (k) => world.timeline.nameOf(k),
    (k) => renderPost(world, k, now),
  );
  return ok([listingOf([renderPost(world, post.k, now)], null, 1), listing]);
}
