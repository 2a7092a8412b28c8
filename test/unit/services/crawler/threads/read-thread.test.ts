import { expect, test } from 'vitest';
import { isInaccessible, readThread } from '../../../../../services/crawler/threads/read-thread.ts';
import type { ThreadReading } from '../../../../../services/crawler/threads/read-thread.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { UpstreamError } from '../../../../../shared/forum-client/upstream-error.ts';
import { ScriptedForum } from '../../../../support/fakes/scripted-forum.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

type Node = Record<string, unknown>;

const listing = (children: Node[]): Node => ({ kind: 'Listing', data: { after: null, children } });

/** A comment as threads hold it: without the title and the NSFW flag of its post. */
function comment(id: string, replies: Node[] = []): Node {
  const data = {
    id,
    author: 'smith',
    subreddit: 'metals',
    created_utc: 1_700_000_000,
    body: `text of ${id}`,
    parent_id: 't3_p',
    link_id: 't3_p',
    score: 1,
  };
  return { kind: 't1', data: { ...data, replies: replies.length === 0 ? '' : listing(replies) } };
}

function more(parentId: string, children: string[], count = children.length): Node {
  return { kind: 'more', data: { id: '_', parent_id: parentId, children, count } };
}

function thread(comments: Node[], count: number): Node[] {
  const post = {
    id: 'p',
    author: 'smith',
    subreddit: 'metals',
    created_utc: 1_700_000_000,
    title: 'On rust',
    selftext: '',
    over_18: true,
    permalink: '/r/metals/comments/p/on_rust/',
    score: 1,
    num_comments: count,
  };
  return [listing([{ kind: 't3', data: post }]), listing(comments)];
}

async function read(
  answers: Record<string, unknown>,
  { archived = [], maxCalls = 10 }: { archived?: string[]; maxCalls?: number } = {},
): Promise<ThreadReading & { asked: string[]; ids: string[] }> {
  const forum = new ScriptedForum(answers);
  const deps = { upstream: forum, metrics: createMetrics(), logger: silentLogger(), clock: () => 5 };
  const isArchived = (name: string): boolean => archived.includes(name);
  const options = { isArchived, maxCalls };
  const reading = await readThread(
    { ...deps, lane: 'threads', label: 'threads' },
    'p',
    options,
    new AbortController().signal,
  );
  const ids = forum.params.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return { ...reading, asked: forum.asked, ids };
}

const names = ({ found }: ThreadReading): string[] => found.map(({ id }) => id).sort();

test('finds the comments of a thread at any depth that are not archived, with title and NSFW flag of the post', async () => {
  const reading = await read(
    { '/comments/p': thread([comment('a', [comment('b', [comment('c')])]), comment('d')], 4) },
    { archived: ['t1_b'] },
  );
  expect(names(reading)).toEqual(['a', 'c', 'd']);
  expect(reading).toMatchObject({ unread: 0, readAt: 5, asked: ['/comments/p'] });
  for (const { link_title: title, over_18: nsfw } of reading.found) expect([title, nsfw]).toEqual(['On rust', true]);
});

test('asks for the comments that are only named, except the archived, and continues below others', async () => {
  const info = listing([comment('e'), comment('f')]);
  const reading = await read(
    {
      '/comments/p': thread([comment('a', [more('t1_a', [], 0)]), more('t3_p', ['e', 'f', 'g'])], 6),
      '/api/info': info,
      '/comments/p/_/a': thread([comment('a', [comment('h')])], 6),
    },
    { archived: ['t1_g'] },
  );
  expect(reading.ids).toEqual(['t1_e,t1_f']);
  expect(names(reading)).toEqual(['a', 'e', 'f', 'h']);
  expect(reading.unread).toBe(0);
});

test('asks for named comments together with their replies where these are not named, the archived too', async () => {
  const flat = (...things: Node[]): Node => ({ json: { errors: [], data: { things } } });
  const reading = await read(
    {
      '/comments/p': thread([comment('a', [more('t1_a', ['x', 'w'], 9)])], 10),
      'more x,w': flat(comment('x'), comment('w'), comment('y'), more('t1_y', ['z'], 3), more('t1_w', [], 0)),
      'more z': flat(comment('z'), comment('v'), more('t1_v', ['u'])),
      '/api/info': listing([comment('u')]),
      '/comments/p/_/w': thread([comment('w', [comment('s'), more('t1_w', [], 0)])], 10),
    },
    { archived: ['t1_w'] },
  );
  expect(names(reading)).toEqual(['a', 's', 'u', 'v', 'x', 'y', 'z']);
  expect(reading.unread).toBe(0);
  expect(reading.asked).toEqual(['/comments/p', 'more x,w', 'more z', '/api/info', '/comments/p/_/w']);
});

test('leaves the rest unread when the calls or the budget end', async () => {
  const ids = Array.from({ length: 250 }, (_, index) => `c${index}`);
  const first = { '/comments/p': thread([more('t3_p', ids)], 250) };
  const few = await read({ ...first, '/api/info': listing([comment('c0')]) }, { maxCalls: 2 });
  expect(few).toMatchObject({ unread: 150, isBrokenOff: false, asked: ['/comments/p', '/api/info'] });
  const busy = new UpstreamError('busy', 'used up', { reason: 'own_budget' });
  expect(await read({ ...first, '/api/info': busy })).toMatchObject({ unread: 250, isBrokenOff: true, found: [] });
  await expect(read({ '/comments/p': busy })).rejects.toBe(busy);
});

test('a comment of an unknown shape is kept and hides no other', async () => {
  const broken = comment('a', [comment('b')]);
  (broken.data as Node).created_utc = 'yesterday';
  const reading = await read({ '/comments/p': thread([broken, { kind: 't9', data: {} }, comment('c')], 3) });
  expect(names(reading)).toEqual(['b', 'c']);
  expect(reading.malformed).toMatchObject([{ kind: 't1', name: 't1_a' }]);
});

test.each([
  ['not_found', 404, 'Not Found', true],
  ['refused', 403, 'private', true],
  ['refused', 403, 'quarantined', true],
  ['refused', 403, 'Forbidden', false],
  ['refused', 403, 'unexplained', false],
  ['refused', 403, 'blocked', false],
  ['refused', 401, 'private', false],
  ['broken', 503, 'private', false],
] as const)('after %s %d %s a thread is gone for good: %s', (failure, status, reason, expected) => {
  expect(isInaccessible(new UpstreamError(failure, 'no thread', { status, reason }))).toBe(expected);
});
