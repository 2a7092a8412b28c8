import { describe, expect, test } from 'vitest';
import { ThreadSweep } from '../../../../../services/crawler/threads/thread-sweep.ts';
import { SweptForum } from '../../../../support/fakes/swept-forum.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('with budget to spare', () => {
  test('finds every comment that only its thread shows within two minutes, on posts of any age under a day', () => {
    const forum = new SweptForum(2);
    const start = 2 * DAY;
    for (let post = 0; post < 3_000; post++) forum.add(`p${post}`, start - (post / 3_000) * 23 * HOUR);
    let written = 0;
    forum.run(start, start + 20 * MINUTE, (now) => {
      if (now >= start + 17 * MINUTE) return;
      forum.missed(`p${(written * 997) % 3_000}`, now);
      written += 1;
    });
    expect(forum.waits).toHaveLength(written);
    expect(Math.max(...forum.waits)).toBeLessThanOrEqual(2 * MINUTE);
    const intervals = [...forum.checks.values()].flatMap((times) =>
      times.slice(1).map((time, index) => time - times[index]!),
    );
    expect(Math.min(...intervals)).toBeGreaterThanOrEqual(55 * SECOND);
  });

  test('reads no thread whose comments other sources showed', () => {
    const forum = new SweptForum(2);
    for (let post = 0; post < 50; post++) forum.add(`p${post}`, DAY);
    forum.run(DAY, DAY + 10 * MINUTE, (now) => forum.listed(`p${(now / SECOND) % 50}`, 3, now));
    expect(forum.readings).toEqual([]);
  });
});

describe('a deficit', () => {
  test('that a complete reading cannot find is its residual: only growth triggers a new reading', () => {
    const forum = new SweptForum(1);
    forum.add('a', DAY, 10);
    forum.posts.get('a')!.comments = 13;
    forum.run(DAY, DAY + 10 * MINUTE);
    expect(forum.readings).toHaveLength(1);
    forum.missed('a', DAY + 10 * MINUTE);
    forum.run(DAY + 10 * MINUTE, DAY + 20 * MINUTE);
    expect(forum.readings.map(({ deficit }) => deficit)).toEqual([3, 1]);
    expect(forum.waits).toHaveLength(1);
  });

  test('is never hidden by deletions for longer than they are new', () => {
    const forum = new SweptForum(1);
    forum.add('a', DAY, 10);
    forum.posts.get('a')!.comments = 4;
    forum.run(DAY, DAY + 10 * MINUTE);
    expect(forum.readings).toEqual([]);
    forum.missed('a', DAY + 10 * MINUTE);
    forum.run(DAY + 10 * MINUTE, DAY + 15 * MINUTE);
    expect(forum.waits).toHaveLength(1);
  });

  test('a thread that cannot be read keeps nothing from being read or checked', () => {
    const sweep = new ThreadSweep();
    for (const postId of ['broken', 'other']) sweep.add({ postId, createdAt: 0, comments: 0 });
    sweep.nextCheck(2 * MINUTE, 1);
    const counts = [
      { postId: 'broken', comments: 500, archived: 0 },
      { postId: 'other', comments: 5, archived: 4 },
    ];
    sweep.learnChecks(2 * MINUTE, counts);
    const failures: number[] = [];
    let checks = 0;
    for (let now = 3 * MINUTE; now < 3 * HOUR; now += SECOND) {
      const reading = sweep.nextReading(now);
      if (reading?.postId === 'broken') {
        failures.push(now);
        sweep.readingFailed('broken', 'failed', now);
      } else if (reading) {
        expect(now).toBeLessThan(3 * MINUTE + 3 * SECOND);
        sweep.learnReading('other', { readAt: now, comments: 5, known: 5, found: 1, unread: 0 });
      }
      const postIds = sweep.nextCheck(now, 1);
      if (!postIds) continue;
      checks += 1;
      sweep.learnChecks(
        now,
        postIds.map((postId) => ({ postId, comments: undefined, archived: 0 })),
      );
    }
    const pauses = failures.slice(1).map((at, index) => (at - failures[index]!) / MINUTE);
    expect(pauses.slice(0, 7)).toEqual([0.5, 1, 2, 4, 8, 10, 10]);
    expect(failures).toHaveLength(22);
    expect(checks).toBeGreaterThan(60);
    // It waits until it can be read, and the gaps that wait for it stay open.
    expect(sweep.backlog).toBe(1);
  });

  test('survives a failed check and a failed reading, and ends when the thread is gone', () => {
    const sweep = new ThreadSweep();
    sweep.add({ postId: 'a', createdAt: 0, comments: 0 });
    expect(sweep.nextCheck(2 * MINUTE, 1)).toEqual(['a']);
    expect(sweep.nextCheck(4 * MINUTE, 1)).toBeUndefined();
    sweep.checkFailed(['a']);
    expect(sweep.nextCheck(4 * MINUTE, 1)).toEqual(['a']);
    sweep.learnChecks(6 * MINUTE, [{ postId: 'a', comments: 5, archived: 1 }]);
    expect(sweep.backlog).toBe(1);
    expect(sweep.nextReading(6 * MINUTE)).toMatchObject({ postId: 'a', deficit: 4 });
    expect(sweep.nextReading(6 * MINUTE)).toBeUndefined();
    sweep.readingFailed('a', 'own_budget', 6 * MINUTE);
    expect(sweep.nextReading(6 * MINUTE)).toMatchObject({ postId: 'a', deficit: 4 });
    sweep.readingFailed('a', 'failed', 6 * MINUTE);
    expect(sweep.nextReading(6 * MINUTE)).toBeUndefined();
    expect(sweep.nextReading(7 * MINUTE)).toMatchObject({ postId: 'a', deficit: 4 });
    sweep.readingFailed('a', 'gone', 7 * MINUTE);
    expect(sweep.nextReading(8 * MINUTE)).toBeUndefined();
    expect(sweep.backlog).toBe(0);
    sweep.checkFailed(['a', 'unknown']);
    expect(sweep.nextCheck(9 * MINUTE, 1)).toEqual(['a']);
    sweep.learnChecks(9 * MINUTE, [{ postId: 'a', comments: undefined, archived: 0 }]);
    expect(sweep.backlog).toBe(0);
  });

  test('of a post that is older than the archive counts from the first check on', () => {
    const sweep = new ThreadSweep();
    sweep.noteActivity({ postId: 'old', comments: 1, oldestAt: 5 * MINUTE });
    expect(sweep.nextCheck(7 * MINUTE, 1)).toEqual(['old']);
    sweep.learnChecks(7 * MINUTE, [{ postId: 'old', comments: 5_000, archived: 1 }]);
    expect(sweep.backlog).toBe(0);
    expect(sweep.nextCheck(9 * MINUTE, 1)).toEqual(['old']);
    sweep.learnChecks(9 * MINUTE, [{ postId: 'old', comments: 5_003, archived: 2 }]);
    expect(sweep.nextReading(DAY)).toEqual({ postId: 'old', deficit: 2, from: 5 * MINUTE });
  });
});

describe('with too little budget', () => {
  test('checks busy threads often and quiet ones ever less often, within the budget', () => {
    const forum = new SweptForum(0.02);
    const isBusy = (post: number): boolean => post % 50 === 0;
    let born = 0;
    forum.run(DAY, DAY + 6 * HOUR, (now) => {
      if (now % (4 * SECOND) === 0) forum.add(`p${born++}`, now);
      if (now % (20 * SECOND) !== 0) return;
      for (let post = 0; post < born; post += 50) forum.listed(`p${post}`, 1, now);
    });
    const timesOf = (post: number): number[] => forum.checks.get(`p${post}`) ?? [];
    // Those of the first hour have been followed for five hours.
    const first = Array.from({ length: 900 }, (_, post) => post);
    const mean = (posts: number[]): number => posts.reduce((sum, post) => sum + timesOf(post).length, 0) / posts.length;
    const quiet = first.filter((post) => !isBusy(post));
    expect(mean(first.filter(isBusy))).toBeGreaterThan(5 * mean(quiet));
    const intervals = quiet.map((post) => timesOf(post).map((time, index, times) => time - (times[index - 1] ?? time)));
    const growing = intervals.filter((each) => each.length >= 4 && each.at(-1)! > each[1]!);
    expect(growing.length).toBeGreaterThan(0.9 * intervals.filter((each) => each.length >= 4).length);
    const total = [...forum.checks.values()].reduce((sum, times) => sum + times.length, 0);
    expect(total).toBeLessThanOrEqual(0.02 * 100 * 6 * 3_600 + 2_000);
    expect(total).toBeGreaterThan(0.02 * 100 * 6 * 3_600 * 0.6);
  });
});
