import { describe, expect, test } from 'vitest';
import { ThreadAudit } from '../../../../../services/crawler/coverage/thread-audit.ts';
import type { AuditedWindow } from '../../../../../services/crawler/coverage/thread-audit.ts';
import { estimateCompleteness } from '../../../../../shared/crawl/rules/coverage.ts';
import { seededRandom } from '../../../../support/samples/seeded-random.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

interface Post {
  createdAt: number;
  comments: { at: number; isSeen: boolean }[];
}

interface Traffic {
  postsPerSecond: number;
  /** Probability that a comment is not seen, given a number that is the same for all comments of a post. */
  loss: (post: number, hour: number) => number;
}

/** A forum in virtual time whose threads differ widely in size, and an audit with a budget. */
class AuditedForum {
  readonly posts = new Map<string, Post>();
  readonly windows: AuditedWindow[] = [];
  calls = 0;
  readonly audit: ThreadAudit;
  private readonly random: () => number;
  private readonly traffic: Traffic;
  private readonly sizes: number[] = [];
  private readonly start: number;

  constructor(seed: number, start: number, traffic: Traffic, stepsMs?: number[]) {
    this.random = seededRandom(seed);
    this.traffic = traffic;
    this.start = start;
    this.audit = new ThreadAudit(stepsMs === undefined ? { seed } : { seed, stepsMs }, start, start);
  }

  run(to: number, callsPerSecond: number): void {
    let credit = 0;
    for (let now = this.start; now < to; now += 5 * SECOND) {
      this.emit(now);
      credit = Math.min(100, credit + 5 * callsPerSecond);
      const finished = this.audit.takeFinished(now, callsPerSecond);
      if (finished !== undefined) this.windows.push(finished);
      while (credit >= 1 && this.call(now, callsPerSecond)) credit -= 1;
    }
  }

  private emit(now: number): void {
    const births = this.traffic.postsPerSecond * 5;
    for (let left = births; left > 0; left -= 1) {
      if (this.random() >= left) continue;
      const postId = `p${this.sizes.length.toString(36)}`;
      this.sizes.push(Math.min(200, 0.3 * this.random() ** -0.8));
      this.posts.set(postId, { createdAt: now, comments: [] });
      this.audit.offer(postId, now);
    }
    for (const [index, post] of [...this.posts.values()].entries()) {
      const age = (now - post.createdAt) / SECOND + 600;
      for (let rate = (this.sizes[index]! * 5 * 2) / age; rate > 0 && this.random() < rate; rate -= 1) {
        const isSeen = this.random() >= this.traffic.loss(index, Math.floor(now / HOUR));
        post.comments.push({ at: now, isSeen });
      }
    }
  }

  private call(now: number, callsPerSecond: number): boolean {
    const { audit } = this;
    const check = audit.nextCheck(now, callsPerSecond);
    if (check !== undefined) {
      this.calls += 1;
      audit.learnChecks(check.postIds.map((postId) => ({ postId, comments: this.posts.get(postId)?.comments.length })));
      return true;
    }
    const reading = audit.nextReading(now, callsPerSecond);
    if (reading === undefined) return false;
    this.calls += 1;
    const { start, end } = audit.current;
    const comments = this.posts.get(reading.postId)!.comments.filter(({ at }) => at >= start && at < end);
    audit.learnReading(reading.postId, {
      seen: comments.filter(({ isSeen }) => isSeen).length,
      total: comments.length,
    });
    return true;
  }

  truth(from: number, to: number): { seen: number; total: number } {
    const comments = [...this.posts.values()].flatMap((post) =>
      post.comments.filter(({ at }) => at >= from && at < to),
    );
    return { seen: comments.filter(({ isSeen }) => isSeen).length, total: comments.length };
  }
}

describe('with budget for every thread', () => {
  test('reads all of them in short windows, and knows the completeness exactly', () => {
    const forum = new AuditedForum(3, HOUR, { postsPerSecond: 0.05, loss: () => 0.1 });
    forum.run(3 * HOUR, 10);
    expect(forum.windows.length).toBeGreaterThan(20);
    for (const { start, end, samples } of forum.windows) {
      expect(end - start).toBe(5 * MINUTE);
      expect(samples.map(({ weight }) => weight)).toEqual(samples.map(() => 1));
      const [seen, total] = [samples.reduce((sum, s) => sum + s.seen, 0), samples.reduce((sum, s) => sum + s.total, 0)];
      expect({ seen, total }).toEqual(forum.truth(start, end));
    }
  });
});

describe('with a small budget', () => {
  const HOURS = 6;

  test.each([
    ['whole threads', (post: number) => (post % 20 === 0 ? 1 : 0)],
    [
      'together, in one of three hours',
      (post: number, hour: number) => (hour % 3 === 1 && post % 3 === 0 ? 0.9 : 0.01),
    ],
  ])(
    'the interval of an hour holds the truth, nine times of ten at least: losses of %s',
    { timeout: 120_000 },
    (_, loss) => {
      let held = 0;
      let hours = 0;
      for (let seed = 0; seed < 8; seed++) {
        const forum = new AuditedForum(seed, 0, { postsPerSecond: 0.2, loss }, [HOUR]);
        forum.run(HOURS * HOUR, 0.04);
        for (const { start, end, samples } of forum.windows.slice(1)) {
          const estimate = estimateCompleteness(samples)!;
          const { seen, total } = forum.truth(start, end);
          hours += 1;
          if (estimate.low <= seen / total && seen / total <= estimate.high) held += 1;
        }
      }
      expect(hours).toBeGreaterThan(25);
      expect(held / hours).toBeGreaterThanOrEqual(0.9);
    },
  );
});

describe('what goes wrong', () => {
  test('a failed check and a failed reading are made again', () => {
    const audit = new ThreadAudit({ seed: 1, stepsMs: [MINUTE] }, 0, 0);
    audit.offer('a', SECOND);
    expect(audit.nextCheck(50 * SECOND, 1)).toBeUndefined();
    expect(audit.nextAt(50 * SECOND)).toBe(MINUTE);
    expect(audit.nextCheck(MINUTE, 1)).toEqual({ postIds: ['a'], unknown: [] });
    audit.checkFailed(['a']);
    expect(audit.nextCheck(MINUTE, 1)).toEqual({ postIds: ['a'], unknown: [] });
    audit.learnChecks([{ postId: 'a', comments: 4 }]);
    expect(audit.nextReading(80 * SECOND, 1)).toBeUndefined();
    const reading = audit.nextReading(90 * SECOND, 1)!;
    expect(reading).toMatchObject({ postId: 'a', size: 4, chance: 1 });
    audit.readingFailed(reading);
    expect(audit.takeFinished(95 * SECOND, 1)).toBeUndefined();
    expect(audit.nextReading(95 * SECOND, 1)?.postId).toBe('a');
    audit.learnReading('a', { seen: 3, total: 4 });
    const samples = [{ postId: 'a', weight: 1, seen: 3, total: 4 }];
    expect(audit.takeFinished(99 * SECOND, 1)).toEqual({ start: 0, end: MINUTE, samples });
    expect(audit.takeFinished(99 * SECOND, 1)).toBeUndefined();
  });

  test('a window waits for posts that are still caught up with, for six hours at most', () => {
    const audit = new ThreadAudit({ seed: 1, stepsMs: [HOUR] }, 0, 0);
    audit.offer('early', 0);
    audit.setUnknownPosts([{ afterAt: 50 * MINUTE, beforeAt: 2 * HOUR }]);
    expect(audit.nextCheck(HOUR, 10)).toBeUndefined();
    expect(audit.nextAt(HOUR)).toBeGreaterThan(HOUR);
    audit.setUnknownPosts([{ afterAt: HOUR, beforeAt: 2 * HOUR }]);
    expect(audit.nextCheck(HOUR + MINUTE, 10)?.postIds).toEqual(['early']);
    // The gap turns out to be longer while the checks are under way.
    audit.setUnknownPosts([{ afterAt: 50 * MINUTE, beforeAt: 2 * HOUR }]);
    expect(audit.nextCheck(HOUR + 2 * MINUTE, 10)).toBeUndefined();
    audit.learnChecks([{ postId: 'early', comments: 3 }]);
    audit.offer('found', 55 * MINUTE);
    audit.setUnknownPosts([]);
    expect(audit.nextCheck(2 * HOUR, 10)?.postIds.sort()).toEqual(['early', 'found']);

    const bounded = new ThreadAudit({ seed: 1, stepsMs: [HOUR] }, 0, 0);
    bounded.offer('early', 0);
    bounded.setUnknownPosts([{ afterAt: 0, beforeAt: HOUR }]);
    expect(bounded.nextCheck(7 * HOUR - MINUTE, 10)).toBeUndefined();
    expect(bounded.nextCheck(7 * HOUR + MINUTE, 10)?.postIds).toEqual(['early']);
  });
});
