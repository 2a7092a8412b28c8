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

  test('of a comment that only its thread shows is found after another was deleted while a listing showed a third', () => {
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

  test('is looked for in the archive for a quarter of an hour after it was unavailable, which may have got some late', () => {
    const sweep = new ThreadSweep();
    sweep.add({ postId: 'a', createdAt: DAY, comments: 3 });
    const check = (now: number): void => expect(sweep.nextCheck(now, 100)).toEqual(['a']);
    check(DAY + 2 * MINUTE);
    sweep.learnChecks(DAY + 2 * MINUTE, [{ postId: 'a', comments: 3, archived: 3 }]);
    sweep.noteOutage(DAY + 3 * MINUTE);
    check(DAY + 4 * MINUTE);
    expect(sweep.archivedOf('a', 3, DAY + 4 * MINUTE)).toBeUndefined();
    sweep.learnChecks(DAY + 17 * MINUTE, [{ postId: 'a', comments: 3, archived: 3 }]);
    expect(sweep.archivedOf('a', 3, DAY + 18 * MINUTE)).toBeUndefined();
    expect(sweep.archivedOf('a', 3, DAY + 19 * MINUTE)).toBe(3);
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
    sweep.readingFailed('a', 'inaccessible', 7 * MINUTE);
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
