import type { Post } from '../content/catalog.ts';
import { sorted, withinSpan } from './sorting.ts';
import type { World } from '../world.ts';

const MAX_RESULTS = 250;

type Test = (post: Post) => boolean;

/**
 * One test per word, "phrase" and field:value part of a query; a result passes all. A word that does not begin with a
 * Latin letter or a digit also matches within other text, because some scripts have no spaces.
 */
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

/** Searches the newest thousand posts (of one community or of all) and returns the slots of the hits, sorted. */
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
  return sorted(world, found, sort === 'relevance' ? 'hot' : sort, null, now).slice(0, MAX_RESULTS);
}
