import { expect, test } from 'vitest';
import {
  isDenial,
  isExplainedDenial,
  isFaultOfForum,
  leadsToAnother,
  negativeForMs,
} from '../../../../../services/api/reading/reading-route.ts';
import { UpstreamError } from '../../../../../shared/forum-client/upstream-error.ts';

const moved = (location?: string) => new UpstreamError('moved', 'moved', { status: 302, location });
const refused = (reason: string, status = 403) => new UpstreamError('refused', 'refused', { status, reason });

test.each<[string, Error, boolean, boolean]>([
  ['an unknown thing', new UpstreamError('not_found', 'unknown', { status: 404 }), true, true],
  ['a redirect to the search of communities', moved('/subreddits/search?q=nothing'), true, true],
  ['the same with a host', moved('https://www.forum.example/subreddits/search.json?q=nothing'), true, true],
  ['a redirect to the search', moved('/search?q=nothing'), true, true],
  ['a redirect to a page for signing in', moved('https://www.forum.example/login?dest=search'), false, false],
  ['a redirect of no use', moved('http://['), false, false],
  ['a redirect to nowhere', moved(), false, false],
  ['a private community', refused('private'), true, true],
  ['a refusal without a reason', refused('Forbidden'), true, false],
  ['what is withheld for legal reasons', refused('Unavailable For Legal Reasons', 451), true, false],
  ['a block of our address', refused('blocked'), false, false],
  ['a refused credential', refused('Unauthorized', 401), false, false],
  ['another error', new Error('broken'), false, false],
])('%s is a denial or not, and explained or not', (_, error, denial, explained) => {
  expect([isDenial(error), isExplainedDenial(error)]).toEqual([denial, explained]);
  expect(negativeForMs(error)).toBe(denial ? 60_000 : 0);
});

const broken = (reason: string, status = 200) => new UpstreamError('broken', 'broken', { status, reason });

test.each<[string, Error, boolean]>([
  ['a redirect', moved('/r/rust/comments/abc/'), false],
  ['an unknown thing', new UpstreamError('not_found', 'unknown', { status: 404 }), false],
  ['a refusal with a reason', refused('private'), false],
  ['a refusal without a reason', refused('Forbidden'), false],
  ['a refused question', refused('Bad Request', 400), false],
  ['a 404 without JSON', broken('not_json', 404), false],
  ['an answer that is too large', broken('too_large'), false],
  ['a client that has left', new Error('gone'), false],
  ['a block of our address', refused('blocked'), true],
  ['a refused credential', refused('Unauthorized', 401), true],
  ['HTML instead of JSON', broken('not_json'), true],
  ['an outage', new UpstreamError('broken', 'the forum answered 503', { status: 503 }), true],
  ['our own budget', new UpstreamError('busy', 'busy', { reason: 'own_budget' }), true],
  ['no answer', new UpstreamError('timeout', 'late'), true],
])('%s is a fault of the forum or not', (_, error, expected) => {
  expect(isFaultOfForum(error)).toBe(expected);
});

test.each<[string, string | undefined, boolean]>([
  ['/r/random/hot', '/r/metals/hot.json', true],
  ['/r/random/about', 'https://www.forum.example/r/metals/about/', true],
  ['/r/u_smith/new', 'https://www.forum.example/user/smith/', true],
  ['/r/Metals/hot', '/r/metals/hot.json', false],
  ['/r/metals/hot', 'https://www.forum.example/login?dest=/r/other/', false],
  ['/r/metals/hot', 'https://www.forum.example/', false],
  ['/r/metals/hot', 'http://[', false],
  ['/r/metals/hot', undefined, false],
  ['/user/smith/about', '/user/jones/about', false],
  ['/search', '/r/metals/search', false],
])('from %s to %s: another one or not', (path, location, expected) => {
  expect(leadsToAnother(path, moved(location))).toBe(expected);
});
