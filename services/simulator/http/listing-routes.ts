import type { Answer } from './answer.ts';
import { failure, ok, redirect } from './answer.ts';
import { everyAuthor, accountStatusOf, SUSPENDED_USER } from '../content/authors.ts';
import type { Community } from '../content/communities.ts';
import { isReadable } from '../content/communities.ts';
import { listingOf } from '../render/comment-tree.ts';
import { pageListing, pageOf } from './paging.ts';
import { renderComment } from '../render/render-comment.ts';
import { renderCommunity, renderRules } from '../render/render-community.ts';
import type { Thing } from '../render/render-post.ts';
import { permalinkOf, renderPost } from '../render/render-post.ts';
import { renderUser } from '../render/render-user.ts';
import type { RouteRequest } from './request.ts';
import { searchPosts } from './search-posts.ts';
import { sorted } from './sorting.ts';

const MAX_INFO_IDS = 100;

function thingOf(request: RouteRequest, k: number): Thing {
  const { world, now } = request;
  return world.timeline.item(k).kind === 'post' ? renderPost(world, k, now) : renderComment(world, k, now);
}

function slotsListing(request: RouteRequest, slots: readonly number[]): Answer {
  const nameOf = (k: number): string => request.world.timeline.nameOf(k);
  const placeOf = (name: string): number => slots.indexOf(request.world.timeline.find(name, request.now) ?? -1);
  return ok(pageListing(slots, pageOf(request.query), nameOf, (k) => thingOf(request, k), placeOf));
}

/** The refusal of an unreadable community; undefined if it is readable. An unknown one redirects to the search page. */
function refusal(name: string, community: Community | undefined): Answer | undefined {
  if (!community) return redirect(302, `/subreddits/search?q=${encodeURIComponent(name)}`);
  if (isReadable(community)) return undefined;
  return community.type === 'banned' ? failure(404, 'banned') : failure(403, community.type);
}

/** `names` is `all`, one community, or several joined by `+`. Among several, unreadable ones are left out. */
export function communityListing(request: RouteRequest, names: string, view: string): Answer {
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

export function infoRoute(request: RouteRequest): Answer {
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
  return ok(listingOf([...things, ...known.map((community) => renderCommunity(community))], null, null));
}

export function aboutRoute({ world }: RouteRequest, name: string, rules: boolean): Answer {
  const community = world.communities.named(name);
  const refused = refusal(name, community);
  if (refused || !community) return refused ?? failure(404);
  return ok(rules ? renderRules(community) : renderCommunity(community, true));
}

function communitiesListing(request: RouteRequest, communities: readonly Community[]): Answer {
  const page = pageOf(request.query);
  return ok(
    pageListing(
      communities,
      page,
      (community) => `t5_${community.id}`,
      (community) => renderCommunity(community),
    ),
  );
}

function listedCommunities({ world }: RouteRequest): Community[] {
  return world.communities.listed().filter((community) => isReadable(community));
}

export function communitiesRoute(request: RouteRequest, sort: string): Answer {
  const key = (community: Community): number => (sort === 'new' ? community.created : community.subscribers);
  return communitiesListing(
    request,
    listedCommunities(request).sort((a, b) => key(b) - key(a)),
  );
}

export function communitySearchRoute(request: RouteRequest): Answer {
  const q = (request.query.get('q') ?? '').toLowerCase();
  const matches = ({ name, title }: Community): boolean => `${name} ${title}`.toLowerCase().includes(q);
  const found = q === '' ? [] : listedCommunities(request).filter(matches);
  return communitiesListing(request, found);
}

export function searchRoute(request: RouteRequest, name: string | undefined): Answer {
  const { world, query, now } = request;
  const type = query.get('type') ?? 'link';
  if (type === 'sr') return communitySearchRoute(request);
  if (type === 'user') return userSearch(request);
  const refused = name === undefined ? undefined : refusal(name, world.communities.named(name));
  if (refused) return refused;
  const restricted = name !== undefined && !/^(0|false|no|off)$/i.test(query.get('restrict_sr') ?? 'false');
  return slotsListing(request, searchPosts(world, query, restricted ? name : undefined, now));
}

function userSearch(request: RouteRequest): Answer {
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
export function userRoute(request: RouteRequest, requestedName: string, view: string): Answer {
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
export function shareRoute(request: RouteRequest, code: string): Answer {
  const { world, now } = request;
  const k = world.timeline.find(`t3_${code.toLowerCase()}`, now);
  if (k === undefined) return failure(404);
  return redirect(301, `${permalinkOf(world, world.catalog.post(k))}?share_id=${code}&utm_source=share`);
}
