import { describe, expect, test } from 'vitest';
import { estimateCompleteness } from '../../../../../shared/crawl/rules/coverage.ts';
import type { AuditSample } from '../../../../../shared/crawl/rules/coverage.ts';
import { seededRandom } from '../../../../support/samples/seeded-random.ts';

describe('estimateCompleteness', () => {
  test('says nothing without comments', () => {
    expect(estimateCompleteness([])).toBeUndefined();
    expect(estimateCompleteness([{ weight: 5, seen: 0, total: 0 }])).toBeUndefined();
  });

  test('weighs each thread by one over its probability', () => {
    const estimate = estimateCompleteness([
      { weight: 10, seen: 1, total: 2 },
      { weight: 2, seen: 10, total: 10 },
    ]);
    expect(estimate?.share).toBeCloseTo((10 + 20) / (20 + 20));
  });

  test('is exact when every thread was read', () => {
    const estimate = estimateCompleteness([
      { weight: 1, seen: 3, total: 4 },
      { weight: 1, seen: 6, total: 6 },
    ]);
    expect(estimate).toEqual({ share: 0.9, low: 0.9, high: 0.9 });
  });

  test('leaves room for what a sample without a loss cannot show: about three over the number of threads', () => {
    const samples = Array.from({ length: 300 }, (): AuditSample => ({ weight: 50, seen: 4, total: 4 }));
    const estimate = estimateCompleteness(samples);
    expect(estimate).toMatchObject({ share: 1, high: 1 });
    expect(1 - (estimate?.low ?? 0)).toBeGreaterThan(3 / 300);
    expect(1 - (estimate?.low ?? 0)).toBeLessThan(4.2 / 300);
    const few = estimateCompleteness(samples.slice(0, 3));
    expect(few?.low).toBeLessThan(0.35);
    const nothingSeen = estimateCompleteness(samples.map((sample) => ({ ...sample, seen: 0 })));
    expect(nothingSeen).toMatchObject({ share: 0, low: 0 });
    expect(nothingSeen?.high).toBeLessThan(0.02);
  });
});

const RUNS = 40;

interface Thread {
  total: number;
  seen: number;
}

/** Losses: `alone` of each comment by itself, and all of a thread with the probability `whole`. */
function makeThreads(random: () => number, losses: { alone: number; whole: number }): Thread[] {
  return Array.from({ length: 20_000 }, () => {
    const total = Math.min(300, Math.floor(0.8 * random() ** -0.9));
    const isLost = random() < losses.whole;
    let seen = 0;
    for (let comment = 0; comment < total; comment++) if (!isLost && random() >= losses.alone) seen += 1;
    return { total, seen };
  });
}

/** Two phases, as the audit samples: a share of all threads, then by size. */
function sample(random: () => number, threads: readonly Thread[], phases: { births: number; comments: number }) {
  const born = threads.filter(() => random() < phases.births);
  const comments = born.reduce((sum, { total }) => sum + total, 0);
  return born.flatMap(({ total, seen }): AuditSample[] => {
    const probability = Math.min(1, (phases.comments * total) / Math.max(1, comments));
    return random() < probability ? [{ weight: 1 / (phases.births * probability), seen, total }] : [];
  });
}

describe('the 95 % interval holds the truth', () => {
  test.each([
    ['losses of single comments, 5 %', { alone: 0.05, whole: 0 }],
    ['losses of whole threads, 2 %', { alone: 0, whole: 0.02 }],
    ['both', { alone: 0.02, whole: 0.03 }],
  ])('in at least 90 % of the samples: %s', (_, losses) => {
    const random = seededRandom(2026);
    let held = 0;
    let width = 0;
    for (let run = 0; run < RUNS; run++) {
      const threads = makeThreads(random, losses);
      const estimate = estimateCompleteness(sample(random, threads, { births: 0.3, comments: 600 }));
      const total = threads.reduce((sum, thread) => sum + thread.total, 0);
      const truth = threads.reduce((sum, thread) => sum + thread.seen, 0) / total;
      if (estimate && estimate.low <= truth && truth <= estimate.high) held += 1;
      width += (estimate?.high ?? 1) - (estimate?.low ?? 0);
    }
    expect(held).toBeGreaterThanOrEqual(0.9 * RUNS);
    // An interval that says nothing would hold everything.
    expect(width / RUNS).toBeLessThan(0.15);
  });
});
