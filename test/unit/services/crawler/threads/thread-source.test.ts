import { describe, expect, test } from 'vitest';
import { UpstreamError } from '../../../../../shared/forum-client/upstream-error.ts';
import { START, ThreadForum } from '../../../../support/fakes/thread-forum.ts';

const forbidden = (reason: string): UpstreamError =>
  new UpstreamError('refused', 'the forum answered 403', { status: 403, reason });

describe('posts that the forum leaves out', () => {
  test('are not checked while most are left out, so that no gap closes', async () => {
    const forum = new ThreadForum(100);
    forum.isLeftOut = () => true;
    await forum.run(8);
    expect([forum.outcome, forum.failures]).toEqual([undefined, []]);
    forum.isLeftOut = () => false;
    await forum.run(3);
    expect(forum.outcome).toBe('filled');
  });

  test('count as gone after ten minutes', async () => {
    const forum = new ThreadForum(100);
    forum.isLeftOut = () => true;
    await forum.run(15);
    expect([forum.outcome, forum.failures]).toEqual(['filled', []]);
  });
});

describe('threads that the forum refuses', () => {
  test('are not dropped when it refuses this client', async () => {
    const forum = new ThreadForum(30);
    forum.comments = 3;
    forum.refusal = () => forbidden('Forbidden');
    await forum.run(5);
    expect(forum.failures.length).toBeGreaterThan(10);
    expect([await forum.backlog(), forum.outcome]).toEqual([30, undefined]);
    forum.refusal = () => undefined;
    await forum.run(12);
    expect([forum.read.size, await forum.backlog(), forum.outcome]).toEqual([30, 0, 'filled']);
  });

  test('are dropped when their community is private', async () => {
    const forum = new ThreadForum(30);
    forum.comments = 3;
    forum.refusal = (postId) => (postId === 'p7' ? forbidden('private') : undefined);
    await forum.run(5);
    expect([forum.read.size, await forum.backlog(), forum.failures]).toEqual([29, 0, []]);
  });
});

test('gaps of listings and of ids are given up by their age, and its own at once', async () => {
  const forum = new ThreadForum(1);
  await forum.run(1);
  expect([...forum.givenUp]).toEqual(['listings:', 'post-ids', 'comment-ids', 'threads']);
});

describe('after a restart', () => {
  const HOUR = 3_600_000;
  /** So what is asked at a restart takes as long as three plans of checks. */
  const QUERY_MS = 500;

  test.each([10, 30])(
    'what posts of %i hours before got in an outage is found before its gap is closed',
    async (age) => {
      const forum = new ThreadForum(30);
      Object.assign(forum, { ageMs: age * HOUR, queryMs: QUERY_MS, archivedComments: 10, comments: 12 });
      forum.refusal = () => forbidden('Forbidden');
      await forum.run(6);
      expect([await forum.followed(), await forum.backlog(), forum.outcome]).toEqual([30, 30, undefined]);
      forum.refusal = () => undefined;
      await forum.run(12);
      expect([forum.read.size, await forum.backlog(), forum.outcome]).toEqual([30, 0, 'filled']);
    },
  );

  test('nothing is checked before the open gaps are known', async () => {
    const forum = new ThreadForum(30);
    forum.isDatabaseUnavailable = true;
    await forum.run(3);
    expect([forum.checks, forum.outcome]).toEqual([0, undefined]);
    forum.isDatabaseUnavailable = false;
    await forum.run(6);
    expect([forum.checks > 0, forum.outcome]).toEqual([true, 'filled']);
  });
});

describe('what posts that fell quiet got in an outage', () => {
  const HOUR = 3_600_000;
  const gapOf = (afterAt: number, beforeAt: unknown) => ({
    ...{ source: 'threads', reason: 'outage', afterThing: undefined, afterAt, beforeThing: undefined, beforeAt },
  });
  /** Of posts that are too busy to be dropped, so that there is a check after the outage. */
  const busyForum = (): ThreadForum => Object.assign(new ThreadForum(30), { archivedComments: 500, comments: 500 });

  test.each([
    ['23 hours', 23, 0],
    ['25 hours', 25, 1],
  ])('of the forum, for %s', async (_, hours, gaps) => {
    const forum = busyForum();
    await forum.run(5);
    const { checkedAt } = forum.source.position() as { checkedAt: number };
    forum.isUnavailable = true;
    await forum.run(hours * 60);
    expect(forum.gaps).toEqual([]);
    forum.isUnavailable = false;
    await forum.run(5);
    expect(forum.gaps).toEqual(Array(gaps).fill(gapOf(checkedAt, expect.any(Number))));
  });

  test.each([
    ['23 hours', 23, 0],
    ['25 hours', 25, 1],
  ])('of this service, for %s', async (_, hours, gaps) => {
    const forum = busyForum();
    const checkedAt = START - hours * HOUR;
    await forum.source.begin({ checkedAt });
    await forum.run(5);
    expect(forum.gaps).toEqual(Array(gaps).fill(gapOf(checkedAt, expect.any(Number))));
    expect(forum.source.position()).toMatchObject({ checkedAt: expect.any(Number) as number });
  });
});
