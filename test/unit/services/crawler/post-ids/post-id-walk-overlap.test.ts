import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberToId } from '../../../../../services/crawler/post-ids/post-id.ts';
import type { WalkStep } from '../../../../../services/crawler/post-ids/post-id-walk.ts';
import { hash32 } from '../../../../../services/simulator/content/seeded-random.ts';
import { PostIdWalk } from '../../../../../services/crawler/post-ids/post-id-walk.ts';

const id = (n: number) => numberToId(BigInt(n));
const FIRST = 50_000;
const MINUTE = 60_000;

interface Schedule {
  /** Posts a second. */
  rate: number;
  /** Round-trip times in milliseconds, in the order of the calls. */
  trips: number[];
  /** The share of calls that fail. */
  failing: number;
  /** Every so many ids one never appears, and one appears up to ten minutes late. */
  holes: number;
  late: number;
  outage: { from: number; forMs: number };
  /** When the process is killed, and goes on from its last position. */
  restarts: number[];
}

/** Walks a forum for some minutes with up to four calls at once. Returns the posts neither found nor given up. */
function walkThrough({ rate, trips, failing, holes, late, outage, restarts }: Schedule): number[] {
  const activeMs = 2 * MINUTE;
  let now = 0;
  let calls = 0;
  const last = () => FIRST + Math.floor((Math.min(now, activeMs) * rate) / 1000);
  const appearsAt = (n: number) => ((n - FIRST) * 1000) / rate + (n % late === 0 ? (n % 600) * 1000 : 0);
  const exists = (n: number) => n <= last() && n % holes !== 0 && appearsAt(n) <= now;
  const found = new Set<string>();
  const givenUp: { from: number; to: number }[] = [];
  let inFlight: { step: WalkStep; endsAt: number; fails: boolean }[] = [];
  let walk = new PostIdWalk({ head: id(FIRST), margin: 1 });
  let saved = JSON.stringify(walk.position());
  const pendingRestarts = [...restarts].sort((a, b) => a - b);
  const isDown = () => now >= outage.from && now < outage.from + outage.forMs;
  const finish = ({ step, fails }: (typeof inFlight)[number]): void => {
    if (fails || isDown()) {
      walk.fail(step);
      return;
    }
    const names = step.ids.filter((one) => exists(parseInt(one, 36)));
    for (const name of names) found.add(name);
    walk.learn(step, new Set(names), now);
    for (const { from = '0', to } of walk.takeEvents().givenUp) {
      givenUp.push({ from: parseInt(from, 36), to: parseInt(to, 36) });
    }
    saved = JSON.stringify(walk.position());
  };
  for (
    ;
    now < activeMs + 75 * MINUTE || (walk.hasStretches && now < 600 * MINUTE);
    now += now < activeMs ? 100 : 5_000
  ) {
    if (pendingRestarts[0] !== undefined && now >= pendingRestarts[0]) {
      pendingRestarts.shift();
      inFlight = [];
      walk = new PostIdWalk(JSON.parse(saved) as ReturnType<PostIdWalk['position']>);
    }
    for (const ended of inFlight.filter(({ endsAt }) => endsAt <= now)) finish(ended);
    inFlight = inFlight.filter(({ endsAt }) => endsAt > now);
    if (now % 5_000 < 100 && !isDown()) walk.learnNewest(Array.from({ length: 100 }, (_, back) => id(last() - back)));
    while (inFlight.length < 4) {
      const step = walk.step(now, true);
      if (!step) break;
      calls += 1;
      inFlight.push({
        step,
        endsAt: now + trips[calls % trips.length]!,
        fails: hash32(1, calls, 0) < failing * 2 ** 32,
      });
    }
  }
  const all = Array.from({ length: last() - FIRST }, (_, index) => FIRST + 1 + index);
  const missed = all.filter((n) => n % holes !== 0 && !found.has(id(n)));
  return missed.filter((n) => !givenUp.some(({ from, to }) => from <= n && n < to));
}

test(
  'finds every post with overlapping calls that end in any order, failures, an outage, restarts and late posts',
  { timeout: 120_000 },
  () => {
    const times = fc.integer({ min: 5_000, max: 115_000 });
    fc.assert(
      fc.property(
        fc.record({
          rate: fc.integer({ min: 5, max: 200 }),
          trips: fc.array(fc.integer({ min: 50, max: 1_000 }), { minLength: 1, maxLength: 8 }),
          failing: fc.double({ min: 0, max: 0.3, noNaN: true }),
          holes: fc.integer({ min: 9, max: 100 }),
          late: fc.integer({ min: 40, max: 300 }),
          outage: fc.record({ from: times, forMs: fc.integer({ min: 0, max: 60_000 }) }),
          restarts: fc.array(times, { maxLength: 3 }),
        }),
        (schedule) => {
          expect(walkThrough(schedule)).toEqual([]);
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  },
);
