import { describe, expect, test } from 'vitest';
import { numberToId } from '../../../../../services/crawler/post-ids/post-id.ts';
import { PostIdWalk } from '../../../../../services/crawler/post-ids/post-id-walk.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A forum of sequential ids with a settable clock; calls of the walk find the posts that exist. */
class Forum {
  now = 0;
  readonly posts = new Set<string>();
  readonly asked: string[][] = [];
  readonly found = new Set<string>();

  add(from: number, to: number, holes: number[] = []): void {
    for (let n = from; n <= to; n++) if (!holes.includes(n)) this.posts.add(numberToId(BigInt(n)));
  }

  call(walk: PostIdWalk, mayCatchUp = true): void {
    const step = walk.step(this.now, mayCatchUp)!;
    this.asked.push(step.ids);
    const found = new Set(step.ids.filter((id) => this.posts.has(id)));
    for (const id of found) this.found.add(id);
    walk.learn(step, found, this.now);
  }
}

const id = (n: number) => numberToId(BigInt(n));

describe('PostIdWalk', () => {
  test('requests a missing id again after 5 s, 30 s, 2 min, 10 min and 1 h, then counts it as absent', () => {
    const forum = new Forum();
    forum.add(1000, 1010, [1005]);
    const walk = new PostIdWalk({ head: id(1010), margin: 11 });
    const askedAt: number[] = [];
    for (forum.now = 0; forum.now <= 2 * HOUR; forum.now += SECOND) {
      forum.call(walk);
      if (forum.asked.at(-1)?.includes(id(1005))) askedAt.push(forum.now);
    }
    expect(askedAt).toEqual([0, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR]);
    expect(walk.takeEvents().absent).toBe(1);
    expect(walk.takeEvents().absent).toBe(0);
  });

  test('jumps to a far head at once, and catches up the skipped ids separately', () => {
    const forum = new Forum();
    forum.add(1000, 9000);
    const walk = new PostIdWalk({ head: id(1010), margin: 11 });
    forum.call(walk);
    walk.learnNewest([id(9000)]);
    forum.call(walk, false);
    expect(forum.found.has(id(9000))).toBe(true);
    forum.call(walk, false);
    expect(forum.found.has(id(5000))).toBe(false);
    while (walk.hasStretches) forum.call(walk);
    expect(forum.found.size).toBe(forum.posts.size);
  });

  test('reports the oldest of more than 20,000 missing ids as given up', () => {
    const forum = new Forum();
    const walk = new PostIdWalk({ head: id(21_000), margin: 1 });
    walk.learnNewest([id(21_000)]);
    forum.posts.add(id(41_100));
    let givenUp: object[] = [];
    for (let head = 21_100; head <= 41_100; head += 100) {
      walk.learnNewest([id(head)]);
      forum.call(walk);
      givenUp = [...givenUp, ...walk.takeEvents().givenUp];
    }
    expect(walk.position().missing).toHaveLength(20_000);
    expect(givenUp).toEqual([{ from: id(21_000), to: id(21_100), found: 0 }]);
  });
});
