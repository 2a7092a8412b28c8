import { mkdtempSync, readFileSync, rmSync, appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { World, WorldOptions } from '../../../../../services/simulator/world.ts';
import { openWorld } from '../../../../../services/simulator/world.ts';

const START = Date.UTC(2026, 0, 5);

let directory: string;
let clock: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'simulator-position-'));
  clock = START;
});

afterEach(() => rmSync(directory, { recursive: true }));

function open(change: Partial<WorldOptions> = {}): World {
  const usual = { directory, seed: 1, rate: 100, ids: 'sequential' as const, holes: 0.02, late: 0.05, history: 200 };
  return openWorld({ ...usual, count: undefined, emittedLog: join(directory, 'log'), ...change }, () => clock);
}

function run(world: World, seconds: number): void {
  for (let tick = 0; tick < seconds * 20; tick++) {
    clock += 50;
    world.emission.advance();
  }
}

interface Line {
  k: number;
  name: string;
  at: number;
  visible_at: number;
}

function logged(): Line[] {
  const lines = readFileSync(join(directory, 'log'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** The names emitted since the first start, in order. The log must list exactly these. */
function emittedNames(world: World): string[] {
  const { timeline } = world;
  const slots = Array.from({ length: timeline.frontier }, (_, k) => k).filter((k) => k >= 200 && timeline.exists(k));
  return slots.map((k) => timeline.nameOf(k));
}

describe('simulator injection', () => {
  const post = { kind: 'post' as const, title: 'A wanted thing', text: 'body', author: 'tester', over_18: true };
  const inCoffee = { subreddit: 'Coffee', post: null, parent: null };

  test('emits at once, keeps the schedule, and survives kill -9 and an incomplete line', () => {
    const first = open({ holes: 0, late: 0 });
    run(first, 1);
    const k = first.emission.inject({ ...post, ...inCoffee });
    const name = first.timeline.nameOf(k);
    const reply = {
      kind: 'comment' as const,
      title: '',
      text: 'hello',
      author: 'tester',
      over_18: true,
      subreddit: 'Coffee',
    };
    const answer = first.emission.inject({ ...reply, post: k, parent: k });
    expect(first.timeline.find(name, clock)).toBe(k);
    expect(first.emission.emitted).toBe(102);
    run(first, 1);
    expect(first.emission.emitted).toBe(202);
    appendFileSync(join(directory, 'simulator-injected.jsonl'), '\n{"k":99999,"te');
    const second = open();
    expect(second.catalog.post(k)).toMatchObject({ title: 'A wanted thing', author: 'tester', over18: true });
    expect(second.threads.commentsOf(second.timeline.item(k).number)).toContain(answer);
    expect(second.catalog.comment(answer).body).toBe('hello');
    expect(logged().filter((line) => line.name === name)).toHaveLength(1);
    expect(logged().map((line) => line.name)).toEqual(emittedNames(second));
  });

  test('keeps what a run left out, and how late its items were, under other settings of the next run', () => {
    const omissions = { drop_all: { share: 0.5, above: 10 }, thread_only: 0.1 };
    const world = open({ omissions, lateSeconds: 300, communities: 50 });
    run(world, 5);
    const end = world.timeline.frontier;
    world.emission.close();
    const later = open({ communities: 50 });
    run(later, 5);
    const shown = (from: number, to: number): Set<string> =>
      new Set(Array.from({ length: to - from }, (_, i) => later.catalog.shownOf(from + i)));
    expect(shown(200, end)).toEqual(new Set(['all', 'community', 'thread']));
    expect(shown(end, later.timeline.frontier)).toEqual(new Set(['all']));
    for (let k = 200; k < end; k++) {
      expect(later.catalog.shownOf(k)).toBe(world.catalog.shownOf(k));
      expect(later.timeline.visibleAt(k)).toBe(world.timeline.visibleAt(k));
    }
    later.emission.close();
    expect(() => open({ communities: 51 })).toThrow('SIMULATOR_COMMUNITIES=50');
  });
});
