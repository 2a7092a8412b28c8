import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { WATCHED_WORDS } from '../../../../services/simulator/content/vocabulary.ts';
import type { World } from '../../../../services/simulator/world.ts';
import { openWorld } from '../../../../services/simulator/world.ts';

const START = Date.UTC(2026, 0, 5);
const ITEMS = 20_000;
const directories: string[] = [];

function worldOf(seed: number, history = ITEMS): World {
  const directory = mkdtempSync(join(tmpdir(), 'simulator-content-'));
  directories.push(directory);
  const ids = 'sequential' as const;
  const options = {
    directory,
    seed,
    rate: 0,
    ids,
    holes: 0.02,
    late: 0,
    history,
    count: undefined,
    emittedLog: undefined,
  };
  return openWorld(options, () => START);
}

function texts(world: World): { posts: string[]; comments: string[] } {
  const posts: string[] = [];
  const comments: string[] = [];
  for (let k = 0; k < world.timeline.frontier; k++) {
    if (!world.timeline.exists(k)) continue;
    if (world.timeline.item(k).kind === 'comment') comments.push(world.catalog.comment(k).body);
    else posts.push(`${world.catalog.post(k).title}\n${world.catalog.post(k).selftext}`);
  }
  return { posts, comments };
}

const share = (list: readonly string[], expression: RegExp): number =>
  list.filter((text) => expression.test(text)).length / list.length;

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

test('simulated texts have every watched word in over 1 % of posts and of comments, and some of other scripts', () => {
  const { posts, comments } = texts(worldOf(1));
  for (const word of WATCHED_WORDS) {
    // Stricter than any matcher: underscores and letters on either side do not count.
    const whole = new RegExp(`(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, 'iu');
    expect(Math.min(share(posts, whole), share(comments, whole)), word).toBeGreaterThan(0.01);
  }
  for (const word of ['咖啡', 'コーヒー', '커피']) {
    const any = new RegExp(word);
    expect(Math.min(share(posts, any), share(comments, any)), word).toBeGreaterThan(0.005);
  }
});

describe('simulator content', () => {
  test('is equal for equal seeds and different for different seeds', () => {
    expect(texts(worldOf(4, 2000))).toEqual(texts(worldOf(4, 2000)));
    expect(texts(worldOf(4, 2000))).not.toEqual(texts(worldOf(5, 2000)));
  });

  test('has every form of post, removed and NSFW posts, and more than 36 communities', () => {
    const { catalog, timeline } = worldOf(1);
    const posts = Array.from({ length: 2500 }, (_, number) => catalog.postNumbered(number)).filter((post) =>
      timeline.exists(post.k),
    );
    const forms = new Set(posts.map((post) => post.form));
    expect([...forms].sort()).toEqual(['crosspost', 'gallery', 'image', 'link', 'poll', 'self', 'video']);
    expect(new Set(posts.map((post) => post.community.name)).size).toBeGreaterThan(36);
    expect(posts.some((post) => post.over18)).toBe(true);
    expect(posts.some((post) => post.selftext === '[removed]')).toBe(true);
    const crossposts = posts.filter((post) => post.form === 'crosspost');
    expect(crossposts.every((post) => post.original! < post.number)).toBe(true);
  });
});

describe('simulator threads', () => {
  const world = worldOf(1, 40_000);
  const { timeline, threads } = world;
  const comments = Array.from({ length: 40_000 }, (_, k) => k).filter(
    (k) => timeline.exists(k) && timeline.item(k).kind === 'comment',
  );

  test('give every comment an older existing parent in the same thread', () => {
    for (const k of comments) {
      const parent = threads.parentOf(k);
      expect(timeline.exists(parent)).toBe(true);
      expect(parent).toBeLessThan(k);
      const postOfParent =
        timeline.item(parent).kind === 'post' ? timeline.item(parent).number : threads.postOf(parent);
      expect(postOfParent).toBe(threads.postOf(k));
    }
  });

  test('include one with over 2,000 comments and a comment with over twelve replies', () => {
    const sizes = Array.from({ length: 2100 }, (_, number) => threads.commentsOf(number).length);
    expect(Math.max(...sizes)).toBeGreaterThan(2000);
    const replies = new Map<number, number>();
    for (const k of comments) replies.set(k, (replies.get(threads.parentOf(k)) ?? 0) + 1);
    expect(Math.max(...replies.values())).toBeGreaterThan(12);
  });
});
