import { accountStatusOf, everyAuthor, SUSPENDED_USER } from '../content/authors.ts';
import type { Post } from '../content/catalog.ts';
import { CommentTree, listingOf, renderComment } from '../content/comment-tree.ts';
import { isReadable } from '../content/community-directory.ts';
import type { Community } from '../content/community-directory.ts';
import { permalinkOf, renderCommunity, renderPost, renderRules, renderUser, scoreAt } from '../content/render.ts';
import type { Thing } from '../content/render.ts';
import type { World } from '../world.ts';
import { failure, ok, redirect } from './route.ts';
import type { RouteResponse, RouteRequest } from './route.ts';

const MAX_INFO_IDS = 100;

function thingOf(request: RouteRequest, k: number): Thing {
  const { world, now } = request;
  return world.timeline.item(k).kind === 'post' ? renderPost(world, k, now) : renderComment(world, k, now);
}

function slotsListing(request: RouteRequest, slots: readonly number[]): RouteResponse {
  const nameOf = (k: number): string => request.world.timeline.nameOf(k);
  const indexOf = (name: string): number => slots.indexOf(request.world.timeline.find(name, request.now) ?? -1);
  return ok(pageListing(slots, pageOf(request.query), nameOf, (k) => thingOf(request, k), indexOf));
}

/** The refusal of a community; undefined if it is readable. An unknown one redirects to the search page. */
function refusal(name: string, community: Community | undefined): RouteResponse | undefined {
  if (!community) return redirect(302, `/subreddits/search?q=${encodeURIComponent(name)}`);
  if (isReadable(community)) return undefined;
  return community.type === 'banned' ? failure(404, 'banned') : failure(403, community.type);
}

/** `names` is `all`, one community, or several joined by `+`. Among several, unreadable ones are left out. */
export function communityListing(request: RouteRequest, names: string, view: string): RouteResponse {
  const { world, query, now, staleMs } = request;
  const kind = view === 'comments' ? 'comment' : 'post';
  const sort = view === 'comments' ? 'new' : view;
  const requested = names.toLowerCase().split('+');
  const page = pageOf(query);
  // The first page needs its own items and one more, to know whether there is a next page.
  const isFirst = page.after === undefined && page.before === undefined;
  const count = sort === 'new' && isFirst && staleMs === 0 ? page.limit + 1 : undefined;
  let slots: number[];
  if (requested.includes('all') || requested.includes('popular')) {
    slots = world.index.newest(kind, 'all', count);
  } else {
    const only = requested.length === 1 ? refusal(names, world.communities.named(names)) : undefined;
    if (only) return only;
    const readable = requested.filter((name) => refusal(name, world.communities.named(name)) === undefined);
    slots = world.index.newestOf(kind, readable, count);
  }
  if (staleMs > 0) slots = slots.filter((k) => world.timeline.visibleAt(k) <= now - staleMs);
  return slotsListing(request, sorted(world, slots, sort, query.get('t'), now));
}

export function infoRoute(request: RouteRequest): RouteResponse {
  const { world, query, now } = request;
  const names = (query.get('id') ?? '').split(',').filter((name) => name !== '');
  if (names.length > MAX_INFO_IDS) return failure(400);
  const slots = [...new Set(names)].map((name) => world.timeline.find(name, now)).filter((k) => k !== undefined);
  // The upstream guarantees no order here. Newest first makes sure that no client relies on the requested order.
  const things = slots.sort((a, b) => b - a).map((k) => thingOf(request, k));
  const communities = names
    .filter((name) => name.startsWith('t5_'))
    .map((name) => world.communities.withId(name.slice(3)));
  const known = communities.filter((community) => community !== undefined);
  return ok(listingOf([...things, ...known.map(renderCommunity)], null, null));
}

export function aboutRoute({ world }: RouteRequest, name: string, rules: boolean): RouteResponse {
  const community = world.communities.named(name);
  const refused = refusal(name, community);
  if (refused || !community) return refused ?? failure(404);
  return ok(rules ? renderRules(community) : renderCommunity(community));
}

function communitiesListing(request: RouteRequest, communities: readonly Community[]): RouteResponse {
  return ok(pageListing(communities, pageOf(request.query), ({ id }) => `t5_${id}`, renderCommunity));
}

function listedCommunities({ world }: RouteRequest): Community[] {
  return world.communities.listed().filter((community) => isReadable(community));
}

export function communitiesRoute(request: RouteRequest, sort: string): RouteResponse {
  const key = (community: Community): number => (sort === 'new' ? community.created : community.subscribers);
  return communitiesListing(
    request,
    listedCommunities(request).sort((a, b) => key(b) - key(a)),
  );
}

export function communitySearchRoute(request: RouteRequest): RouteResponse {
  const q = (request.query.get('q') ?? '').toLowerCase();
  const matches = ({ name, title }: Community): boolean => `${name} ${title}`.toLowerCase().includes(q);
  const found = q === '' ? [] : listedCommunities(request).filter(matches);
  return communitiesListing(request, found);
}

export function searchRoute(request: RouteRequest, name: string | undefined): RouteResponse {
  const { world, query, now } = request;
  const type = query.get('type') ?? 'link';
  if (type === 'sr') return communitySearchRoute(request);
  if (type === 'user') return userSearch(request);
  const refused = name === undefined ? undefined : refusal(name, world.communities.named(name));
  if (refused) return refused;
  const restricted = name !== undefined && !/^(0|false|no|off)$/i.test(query.get('restrict_sr') ?? 'false');
  return slotsListing(request, searchPosts(world, query, restricted ? name : undefined, now));
}

function userSearch(request: RouteRequest): RouteResponse {
  const { seed } = request.world.timeline;
  const q = (request.query.get('q') ?? '').toLowerCase();
  const names = [...everyAuthor(seed).values()]
    .filter((name) => q !== '' && name.toLowerCase().includes(q))
    .slice(0, 250);
  const found = names.filter((name) => accountStatusOf(seed, name) === 'good');
  const idOf = (name: string): string => `t2_${String(renderUser(seed, name)?.data.id)}`;
  return ok(pageListing(found, pageOf(request.query), idOf, (name) => renderUser(seed, name)!));
}

/** `view` is about, submitted, comments or overview. An injected author is known from the first item on. */
export function userRoute(request: RouteRequest, requestedName: string, view: string): RouteResponse {
  const { world, query, now } = request;
  const { seed } = world.timeline;
  const key = `u/${requestedName.toLowerCase()}`;
  const posts = world.index.newest('post', key);
  const comments = world.index.newest('comment', key);
  const hasItems = posts.length + comments.length > 0;
  const name = everyAuthor(seed).get(requestedName.toLowerCase()) ?? (hasItems ? requestedName : undefined);
  const user = name === undefined ? undefined : renderUser(seed, name);
  if (!user) return failure(404);
  if (view === 'about') return ok(user);
  if (user.data.name === SUSPENDED_USER || user.data.is_suspended === true) return failure(403);
  const both = [...posts, ...comments].sort((a, b) => b - a);
  const slots = view === 'submitted' ? posts : view === 'comments' ? comments : both;
  return slotsListing(request, sorted(world, slots, query.get('sort') ?? 'new', query.get('t'), now));
}

/** The code of a share link is the post's id; the link redirects to the permalink. */
export function shareRoute(request: RouteRequest, code: string): RouteResponse {
  const { world, now } = request;
  const k = world.timeline.find(`t3_${code.toLowerCase()}`, now);
  if (k === undefined) return failure(404);
  return redirect(301, `${permalinkOf(world, world.catalog.post(k))}?share_id=${code}&utm_source=share`);
}

export interface Page {
  limit: number;
  after: string | undefined;
  before: string | undefined;
}

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

/** The default limit for a value that is not a number, as upstream. */
export function pageOf(query: URLSearchParams): Page {
  const requested = Number.parseInt(query.get('limit') ?? '', 10);
  const limit = Number.isNaN(requested) ? DEFAULT_LIMIT : Math.min(MAX_LIMIT, Math.max(1, requested));
  return { limit, after: query.get('after') ?? undefined, before: query.get('before') ?? undefined };
}

/**
 * An unknown anchor gives an empty page, as upstream. `before` gives the items directly above the anchor. `indexOf`
 * finds an anchor, -1 for an unknown one.
 */
export function pageListing<T>(
  items: readonly T[],
  page: Page,
  nameOf: (item: T) => string,
  render: (item: T) => Thing,
  indexOf = (name: string): number => items.findIndex((item) => nameOf(item) === name),
): Thing {
  let start = 0;
  let end = items.length;
  if (page.after !== undefined) {
    const anchor = indexOf(page.after);
    start = anchor === -1 ? end : anchor + 1;
  } else if (page.before !== undefined) {
    end = Math.max(0, indexOf(page.before));
    start = Math.max(0, end - page.limit);
  }
  const shown = items.slice(start, Math.min(end, start + page.limit));
  const isLast = start + shown.length >= items.length;
  return listingOf(shown.map(render), isLast || shown.length === 0 ? null : nameOf(shown.at(-1)!), shown.length);
}

const SPANS: Readonly<Record<string, number>> = { hour: 1, day: 24, week: 168, month: 744, year: 8784 };
const HOUR = 3_600_000;

/** `slots` are newest first. `t` limits the age of items in top and controversial. */
export function sorted(world: World, slots: readonly number[], sort: string, t: string | null, now: number): number[] {
  const ageOf = (k: number): number => now - world.timeline.emittedAt(k)!;
  const scoreOf = (k: number): number => {
    const isPost = world.timeline.item(k).kind === 'post';
    return scoreAt((isPost ? world.catalog.post(k) : world.catalog.comment(k)).lifecycle, ageOf(k));
  };
  const by = (rank: (k: number) => number, list: readonly number[]): number[] => {
    const ranks = new Map(list.map((k) => [k, rank(k)]));
    return [...list].sort((a, b) => ranks.get(b)! - ranks.get(a)!);
  };
  switch (sort) {
    case 'top':
      return by(scoreOf, withinSpan(slots, t, ageOf));
    case 'controversial':
      return by((k) => -Math.abs(scoreOf(k) - 2), withinSpan(slots, t, ageOf));
    case 'hot':
      return by(
        (k) => Math.sign(scoreOf(k)) * Math.log10(Math.max(1, Math.abs(scoreOf(k)))) - ageOf(k) / (12.5 * HOUR),
        slots,
      );
    case 'rising':
      return by((k) => scoreOf(k) / (1 + ageOf(k) / HOUR), slots).slice(0, 100);
    case 'comments':
      return by((k) => world.threads.visibleCount(world.catalog.post(k).number, now), slots);
    default:
      return [...slots];
  }
}

export function withinSpan(slots: readonly number[], t: string | null, ageOf: (k: number) => number): number[] {
  const hours = SPANS[t ?? 'all'];
  return hours === undefined ? [...slots] : slots.filter((k) => ageOf(k) <= hours * HOUR);
}

const MAX_FOUND = 250;

type Test = (post: Post) => boolean;

/** One test per word, "phrase" and field:value. Words in scripts without spaces also match within other text. */
export function parseQuery(q: string): Test[] {
  const parts = q.match(/(?:\b\w+:)?"[^"]*"|\S+/g) ?? [];
  return parts.filter((part) => !/^(AND|OR|NOT)$/.test(part)).map(testOf);
}

function testOf(part: string): Test {
  const field = /^(author|self|subreddit|title|selftext|nsfw):(.*)$/i.exec(part);
  if (!field) return textTest(part, (post) => `${post.title}\n${post.selftext}`);
  const value = field[2]!.replaceAll('"', '').toLowerCase();
  const isYes = /^(yes|true|1)$/.test(value);
  switch (field[1]!.toLowerCase()) {
    case 'author':
      return (post) => post.author.toLowerCase() === value;
    case 'subreddit':
      return (post) => post.community.name.toLowerCase() === value;
    case 'self':
      return (post) => (post.form === 'self' || post.form === 'poll') === isYes;
    case 'nsfw':
      return (post) => post.over18 === isYes;
    case 'title':
      return textTest(value, (post) => post.title);
    default:
      return textTest(value, (post) => post.selftext);
  }
}

function textTest(part: string, textOf: (post: Post) => string): Test {
  const words = part.replaceAll('"', '').trim();
  if (words === '') return () => true;
  const escaped = words.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/\s+/g, String.raw`\s+`);
  const bounded = /^[\p{Script=Latin}\p{N}]/u.test(words)
    ? String.raw`(?<![\p{Script=Latin}\p{N}])${escaped}(?![\p{Script=Latin}\p{N}])`
    : escaped;
  const expression = new RegExp(bounded, 'iu');
  return (post) => expression.test(textOf(post));
}

export function searchPosts(
  world: World,
  query: URLSearchParams,
  community: string | undefined,
  now: number,
): number[] {
  const tests = parseQuery(query.get('q') ?? '');
  const slots = world.index.newest('post', community === undefined ? 'all' : `r/${community.toLowerCase()}`);
  const within = withinSpan(slots, query.get('t'), (k) => now - world.timeline.emittedAt(k)!);
  const found = within.filter((k) => tests.every((test) => test(world.catalog.post(k))));
  const sort = query.get('sort') ?? 'relevance';
  return sorted(world, found, sort === 'relevance' ? 'hot' : sort, null, now).slice(0, MAX_FOUND);
}

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
export function commentsRoute(request: RouteRequest, id: string, commentId: string | undefined): RouteResponse {
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

export function moreChildrenRoute(request: RouteRequest): RouteResponse {
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

export function duplicatesRoute(request: RouteRequest, id: string): RouteResponse {
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
