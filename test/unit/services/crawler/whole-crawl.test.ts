import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALL_COMMENTS } from '../../../../services/crawler/listing-source.ts';
import { steadily, WHOLE_SITE_FORUM } from '../../../support/forum-model/forum-options.ts';
import type { ForumOptions } from '../../../support/forum-model/forum-options.ts';
import { IN_ALL } from '../../../support/forum-model/stores.ts';
import type { Fault } from '../../../support/virtual-crawl/network.ts';
import { VirtualListing } from '../../../support/virtual-crawl/sources/listings.ts';
import { VirtualPostIds } from '../../../support/virtual-crawl/sources/post-ids.ts';
import { ONE_CRAWLER, VirtualCrawl } from '../../../support/virtual-crawl/virtual-crawl.ts';
import type { BuildSource, CrawlOptions } from '../../../support/virtual-crawl/virtual-crawl.ts';

const SECOND = 1_000;
/** Faults, bursts and kills end before this; the rest of a schedule is for recovery. */
const TROUBLE = 60 * SECOND;
/** Late posts appear within this time, and are asked for until two minutes after they were first missing. */
const LATENESS = 20 * SECOND;
const END = TROUBLE + 240 * SECOND;
/** A hole in a listing is closed or given up within this time. */
const HOLE = 60 * SECOND;
/** The forum dates items in whole seconds. */
const DATE_SLACK = 2 * SECOND;

const SOURCES: BuildSource[] = [
  (context) => new VirtualPostIds(context),
  (context) => new VirtualListing(ALL_COMMENTS, context),
];

const fault: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constantFrom('outage' as const, 'busy' as const, 'blocked' as const, 'stuck' as const, 'stale' as const),
  fromMs: fc.integer({ min: 0, max: TROUBLE / 2 }),
  toMs: fc.integer({ min: TROUBLE / 2, max: TROUBLE }),
  share: fc.constantFrom(0.1, 0.5, 1),
});

const burst = fc.integer({ min: 5, max: 50 }).map((second) => ({
  fromMs: second * SECOND,
  toMs: (second + 2) * SECOND,
  factor: 20,
}));

const schedule = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  rate: fc.constantFrom<number>(30, 132, 300),
  roundTripMs: fc.constantFrom(100, 300, 600),
  clients: fc.constantFrom(1, 4, 8),
  holes: fc.constantFrom(0, 0.02, 0.1),
  faults: fc.array(fault, { maxLength: 3 }),
  bursts: fc.array(burst, { maxLength: 1 }),
  /** When the first of two processes is killed; undefined: there is one, which lives. */
  killAt: fc.option(fc.integer({ min: 10 * SECOND, max: TROUBLE }), { nil: undefined }),
});

type Schedule = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never;

function run({ rate, roundTripMs, clients, faults, bursts, killAt, ...options }: Schedule): VirtualCrawl {
  const traffic = steadily(rate, bursts);
  const small = { communities: 300, latenessMs: LATENESS, historyHours: 0.05 };
  const forum: ForumOptions = { ...WHOLE_SITE_FORUM, ...options, ...small, traffic };
  const crawl: CrawlOptions = {
    ...ONE_CRAWLER,
    clients,
    faults,
    roundTripMs: [roundTripMs / 2, 1.5 * roundTripMs],
    processes: killAt === undefined ? 1 : 2,
    kills: killAt === undefined ? [] : [{ process: 0, atMs: killAt }],
  };
  const virtual = new VirtualCrawl(forum, crawl, SOURCES);
  virtual.runUntil(END);
  return virtual;
}

/**
 * Posts that anyone could see for long enough, and that were never seen. The ids below the first one that was found
 * when it was new are older than the crawler.
 */
function missedPosts({ forum, sightings }: VirtualCrawl, untilMs: number): number[] {
  const missed: number[] = [];
  let hasBegun = false;
  for (let post = forum.firstPost; post < forum.posts.count; post++) {
    const seenAt = sightings.postSeenAt(post);
    const shownAt = forum.posts.shownAt[post]!;
    hasBegun ||= seenAt > forum.options.startsAt && shownAt === forum.posts.createdAt[post]!;
    if (hasBegun && seenAt === 0 && shownAt < untilMs) missed.push(post);
  }
  return missed;
}

/** Comments that /r/all/comments showed, that were never seen and lie in no gap. */
function unexplained({ forum, sightings, gaps }: VirtualCrawl, fromMs: number): number[] {
  const { comments } = forum;
  const { startsAt } = forum.options;
  const times = gaps.map(({ afterAt, beforeAt }) => ({
    from: (afterAt ?? -Infinity) - startsAt - DATE_SLACK,
    to: (beforeAt ?? Infinity) - startsAt + DATE_SLACK,
  }));
  const found: number[] = [];
  for (let index = comments.countAt(fromMs); index < comments.countAt(END - HOLE); index++) {
    if (!(comments.visibleIn[index]! & IN_ALL) || sightings.commentSeenAt(index) > 0) continue;
    const isInGap = (at: number) => times.some(({ from, to }) => at >= from && at <= to);
    if (!isInGap(comments.shownAt[index]!) && !isInGap(comments.createdAt(index))) found.push(index);
  }
  return found;
}

/** The time of the first answer: what was there before is not to be read. */
function beginOf({ forum, sightings }: VirtualCrawl): number {
  let first = Infinity;
  for (let index = 0; index < forum.comments.count; index++) {
    const at = sightings.commentSeenAt(index);
    if (at > 0) first = Math.min(first, at);
  }
  return first - forum.options.startsAt;
}

test('under any faults, bursts, delays and kills no post is missed, and every missed comment lies in a gap', () => {
  fc.assert(
    fc.property(schedule, (options) => {
      const crawl = run(options);
      expect(missedPosts(crawl, END - 150 * SECOND)).toEqual([]);
      expect(unexplained(crawl, beginOf(crawl) + SECOND)).toEqual([]);
    }),
    { numRuns: 5 },
  );
});

test.each([132, 400])('at %i items a second nothing that the listing shows is missed', (rate) => {
  const calm = { roundTripMs: 300, clients: 8, holes: 0.02 } as const;
  const crawl = run({ ...calm, seed: 1, rate, faults: [], bursts: [], killAt: undefined });
  expect(crawl.gaps).toEqual([]);
  expect(unexplained(crawl, beginOf(crawl) + SECOND)).toEqual([]);
});
