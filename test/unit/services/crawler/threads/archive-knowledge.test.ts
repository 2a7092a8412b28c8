import { describe, expect, test } from 'vitest';
import { ThreadSweep } from '../../../../../services/crawler/threads/thread-sweep.ts';
import { SweptForum } from '../../../../support/fakes/swept-forum.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the archive is asked about a post', () => {
  test('at its first check, and where nothing happens every quarter of an hour', () => {
    const forum = new SweptForum(10);
    for (let post = 0; post < 200; post++) forum.add(`p${post}`, DAY, 3);
    forum.run(DAY, DAY + 3 * HOUR);
    expect(forum.checked).toBeGreaterThan(200 * 100);
    expect(forum.questions).toBeGreaterThanOrEqual(200 * 10);
    expect(forum.questions).toBeLessThanOrEqual(200 * 13);
    expect(forum.readings).toEqual([]);
  });
});

describe('a comment that only its thread shows is found', () => {
  test('after another was deleted while a listing showed a third', () => {
    const forum = new SweptForum(10);
    forum.add('a', DAY, 10);
    forum.run(DAY, DAY + 10 * MINUTE);
    forum.posts.get('a')!.comments -= 1;
    forum.listed('a', 1, DAY + 10 * MINUTE);
    forum.run(DAY + 10 * MINUTE, DAY + 14 * MINUTE);
    forum.missed('a', DAY + 14 * MINUTE);
    forum.run(DAY + 14 * MINUTE, DAY + 17 * MINUTE);
    expect(forum.waits).toHaveLength(1);
  });
});

describe('nothing is known', () => {
  const swept = (): ThreadSweep => {
    const sweep = new ThreadSweep();
    sweep.add({ postId: 'a', createdAt: DAY, comments: 3 });
    check(sweep, DAY + 2 * MINUTE);
    sweep.learnChecks(DAY + 2 * MINUTE, [{ postId: 'a', comments: 3, archived: 3 }]);
    return sweep;
  };
  const check = (sweep: ThreadSweep, now: number): void => {
    expect(sweep.nextCheck(now, 100)).toEqual(['a']);
  };

  test.each<[string, number | undefined, (sweep: ThreadSweep) => void]>([
    ['nothing happened', 3, () => undefined],
    ['the post grew', undefined, () => undefined],
    ['a listing showed one', undefined, (sweep) => sweep.noteActivity({ postId: 'a', comments: 1, oldestAt: DAY })],
    [
      'its thread was read',
      undefined,
      (sweep) => sweep.learnReading('a', { readAt: DAY, comments: 3, known: 3, found: 0, unread: 0 }),
    ],
  ])('after a check when %s', (name, known, happens) => {
    const sweep = swept();
    happens(sweep);
    check(sweep, DAY + 4 * MINUTE);
    expect(sweep.archivedOf('a', name === 'the post grew' ? 4 : 3, DAY + 4 * MINUTE)).toBe(known);
  });

  test('for a quarter of an hour after the archive was away, which may have got some late', () => {
    const sweep = swept();
    sweep.noteOutage(DAY + 3 * MINUTE);
    check(sweep, DAY + 4 * MINUTE);
    expect(sweep.archivedOf('a', 3, DAY + 4 * MINUTE)).toBeUndefined();
    sweep.learnChecks(DAY + 17 * MINUTE, [{ postId: 'a', comments: 3, archived: 3 }]);
    expect(sweep.archivedOf('a', 3, DAY + 18 * MINUTE)).toBeUndefined();
    expect(sweep.archivedOf('a', 3, DAY + 19 * MINUTE)).toBe(3);
  });

  test('at the next check when a listing showed one during this one', () => {
    const sweep = swept();
    check(sweep, DAY + 4 * MINUTE);
    sweep.noteActivity({ postId: 'a', comments: 1, oldestAt: DAY });
    expect(sweep.archivedOf('a', 3, DAY + 4 * MINUTE)).toBe(3);
    sweep.learnChecks(DAY + 4 * MINUTE, [{ postId: 'a', comments: 3, archived: undefined }]);
    check(sweep, DAY + 6 * MINUTE);
    expect(sweep.archivedOf('a', 3, DAY + 6 * MINUTE)).toBeUndefined();
  });
});
