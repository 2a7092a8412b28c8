import { describe, expect, test } from 'vitest';
import { firstHead, idToNumber, numberToId } from '../../../../../services/crawler/post-ids/walked-ids.ts';
import { PostIdWalk } from '../../../../../services/crawler/post-ids/post-id-walk.ts';

const FAR_OFF = 'zzzzzzzzz';
const id = (n: number) => numberToId(BigInt(n));

/** A forum whose posts have sequential ids, except for those in `others`. */
class Forum {
  now = 0;
  head: number;
  readonly others = new Set<string>();
  readonly found = new Set<string>();
  readonly asked = new Set<string>();

  constructor(head: number) {
    this.head = head;
  }

  /** The newest hundred posts; those in `others` come first. */
  newest(): string[] {
    return [...this.others, ...Array.from({ length: 100 }, (_, index) => id(this.head - index))].slice(0, 100);
  }

  /** Makes one call, after reading the listing if `readListing`; then the head grows by `growth`. */
  turn(walk: PostIdWalk, { readListing = true, growth = 20 } = {}): void {
    if (readListing) walk.learnNewest(this.newest());
    const step = walk.step(this.now, true)!;
    const found = new Set(step.ids.filter((one) => this.others.has(one) || Number(idToNumber(one)) <= this.head));
    for (const one of step.ids) this.asked.add(one);
    for (const one of found) this.found.add(one);
    walk.learn(step, found, this.now);
    this.now += 1000;
    this.head += growth;
  }

  missed(from: number): number[] {
    return Array.from({ length: this.head - from }, (_, index) => from + index).filter((n) => !this.found.has(id(n)));
  }
}

describe('a single post with an id far above all others', () => {
  test('does not move the walk, which continues to find posts and reports the id once', () => {
    const forum = new Forum(50_000);
    const walk = new PostIdWalk({ head: firstHead(forum.newest())!, margin: 100 });
    forum.others.add(FAR_OFF);
    const rejected: string[] = [];
    for (let turn = 0; turn < 50; turn++) {
      forum.turn(walk);
      rejected.push(...walk.takeEvents().rejected);
    }
    forum.turn(walk, { growth: 0 });
    forum.turn(walk, { growth: 0 });
    expect(rejected).toEqual([FAR_OFF]);
    expect(forum.missed(49_950)).toEqual([]);
    expect(walk.position().stretches).toEqual([]);
  });
});

describe('a far head with neighbours', () => {
  test('leaves stretches that are bounded in length and number, and reports what it gives up', () => {
    const forum = new Forum(50_000);
    const walk = new PostIdWalk({ head: id(50_000), margin: 100 });
    forum.turn(walk, { growth: 0 });
    const next = Number(idToNumber(walk.nextId));
    forum.head = 9_000_000;
    forum.turn(walk, { growth: 0 });
    const kept = walk.position().stretches;
    expect(kept).toHaveLength(1);
    const [from, to] = kept[0]!.slice(0, 2).map((one) => Number(idToNumber(String(one))));
    expect(to! - from!).toBe(2_000_000);
    const gaps = walk.takeEvents().givenUp;
    expect(gaps).toEqual([{ from: id(next), to: id(from!) }]);
    for (let jump = 0; jump < 30; jump++) {
      forum.head += 5_000;
      forum.turn(walk, { growth: 0 });
    }
    expect(walk.position().stretches.length).toBeLessThanOrEqual(20);
    gaps.push(...walk.takeEvents().givenUp);
    expect(gaps.length).toBeGreaterThan(1);
    // The gaps and the kept stretches together cover every skipped id.
    const covered = [...gaps.map((gap) => [gap.from!, gap.to] as const), ...walk.position().stretches];
    const ends = new Set(covered.map(([, end]) => end));
    for (const [begin] of covered) {
      const number = Number(idToNumber(begin));
      expect(ends.has(begin) || forum.asked.has(id(number - 1))).toBe(true);
    }
  });

  test('beyond ids that do not exist gives none up, and finds what appears late above them', () => {
    const [absentFrom, first, perSecond, activeMs] = [50_000, 100_000, 17, 600_000];
    let now = 0;
    const last = () => first + Math.floor((Math.min(now, activeMs) * perSecond) / 1_000);
    // Every twentieth post appears twenty minutes late.
    const appearsAt = (n: number) => ((n - first) * 1_000) / perSecond + (n % 20 === 0 ? 1_200_000 : 0);
    const isShown = (n: number) => n <= absentFrom || (n > first && n <= last() && appearsAt(n) <= now);
    const walk = new PostIdWalk({ head: id(absentFrom), margin: 100 });
    const found = new Set<string>();
    const events = { absent: 0, givenUp: [] as object[], caughtUp: [] as object[] };
    for (; now < 5_400_000; now += now < activeMs ? 500 : 5_000) {
      const newest = Array.from({ length: 200 }, (_, back) => last() - back).filter(isShown);
      if (now % 5_000 === 0) walk.learnNewest(newest.slice(0, 100).map(id));
      const step = walk.step(now, true)!;
      const names = step.ids.filter((one) => isShown(Number(idToNumber(one))));
      for (const name of names) found.add(name);
      walk.learn(step, new Set(names), now);
      const { absent, givenUp, caughtUp } = walk.takeEvents();
      events.absent += absent;
      events.givenUp.push(...givenUp);
      events.caughtUp.push(...caughtUp);
    }
    const posts = Array.from({ length: last() - first }, (_, index) => id(first + 1 + index));
    expect(posts.filter((name) => !found.has(name))).toEqual([]);
    expect(events).toMatchObject({ givenUp: [], caughtUp: [{ found: 0 }] });
    expect(events.absent).toBeGreaterThan(49_000);
    expect(walk.position().missing).toEqual([]);
  });
});

test('a missing id is asked for again after 5 s, 30 s, 2 min, 10 min and 1 h, and then counts as absent', () => {
  const walk = new PostIdWalk({ head: id(1010), margin: 11 });
  const askedAt: number[] = [];
  for (let now = 0; now <= 7_200_000; now += 1_000) {
    const step = walk.step(now, true)!;
    if (step.ids.includes(id(1005))) askedAt.push(now / 1_000);
    walk.learn(step, new Set(step.ids.filter((one) => one !== id(1005) && idToNumber(one) <= 1010n)), now);
  }
  expect(askedAt).toEqual([0, 5, 30, 120, 600, 3_600]);
  expect([walk.takeEvents().absent, walk.takeEvents().absent]).toEqual([1, 0]);
});

test('the oldest of more than 20,000 missing ids are reported as given up', () => {
  const walk = new PostIdWalk({ head: id(21_000), margin: 1 });
  walk.learnNewest([id(21_000)]);
  const givenUp: object[] = [];
  for (let head = 21_100; head <= 41_100; head += 100) {
    walk.learnNewest([id(head)]);
    const step = walk.step(0, true)!;
    walk.learn(step, new Set(step.ids.filter((one) => one === id(41_100))), 0);
    givenUp.push(...walk.takeEvents().givenUp);
  }
  expect(walk.position().missing).toHaveLength(20_000);
  expect(givenUp).toEqual([{ from: id(21_000), to: id(21_100), found: 0 }]);
});
