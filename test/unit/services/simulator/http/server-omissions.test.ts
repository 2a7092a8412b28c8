import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Shown } from '../../../../../services/simulator/timeline/timeline.ts';
import type { Listing } from '../../../../support/fakes/running-simulator.ts';
import { namesOf, RunningSimulator } from '../../../../support/fakes/running-simulator.ts';

const RATE = 200;
const OMISSIONS = { drop_all: { share: 0.5, above: 60 }, outside_all: 0.05, thread_only: 0.05, hidden: 0.02 };

let simulator: RunningSimulator;
/** The slots of the run, 20 s long, whose items are visible. */
let comments: number[];

beforeAll(async () => {
  const late = { late: 0.02, lateSeconds: 600, lateDeep: true };
  simulator = await RunningSimulator.start({ rate: RATE, history: 400, omissions: OMISSIONS, ...late });
  const { timeline } = simulator.world;
  comments = Array.from({ length: timeline.frontier - 400 }, (_, i) => 400 + i).filter(
    (k) => timeline.item(k).kind === 'comment' && timeline.visibleAt(k) <= simulator.clock,
  );
});

afterAll(() => simulator.stop());

const shareOf = (shown: Shown): number =>
  comments.filter((k) => simulator.world.catalog.shownOf(k) === shown).length / comments.length;

async function everyPage(path: string): Promise<string[]> {
  const names: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: Listing = await simulator.json(`${path}?limit=100${after === '' ? '' : `&after=${after}`}`);
    names.push(...namesOf(page));
    after = page.data.after;
  }
  return names;
}

/** How many comments a thread shows, with those that its stubs stand for. */
async function shownInThread(id: string, focus = ''): Promise<number> {
  const [, tree] = await simulator.json<[Listing, Listing]>(`/comments/${id}${focus}?limit=500&sort=new`);
  const count = async ({ data }: Listing): Promise<number> => {
    let sum = 0;
    for (const { kind, data: child } of data.children) {
      // "Continue this thread" stands for the replies of its parent, whose own view counts the parent again.
      if (kind === 'more' && child.id === '_') {
        sum += (await shownInThread(id, `/_/${String(child.parent_id).slice(3)}`)) - 1;
      } else if (kind === 'more') sum += Number(child.count);
      else sum += 1 + (child.replies === '' ? 0 : await count(child.replies as Listing));
    }
    return sum;
  };
  return count(tree);
}

describe('omissions of the simulator', () => {
  test('have about the shares that were asked for', () => {
    expect(shareOf('nowhere')).toBeCloseTo(0.02, 1);
    expect(shareOf('thread')).toBeCloseTo(0.05, 1);
    const comments = RATE * 0.875 * 0.98;
    const outside = 0.05 + 0.5 * (1 - 60 / comments);
    expect(shareOf('community')).toBeGreaterThan(outside * 0.8);
    expect(shareOf('community')).toBeLessThan(outside * 1.2);
  });

  test('leave out of /r/all/comments what is dropped or outside, and keep it in its community', async () => {
    const { catalog, timeline } = simulator.world;
    const all = new Set(await everyPage('/r/all/comments'));
    const newest = comments.slice(-500);
    for (const k of newest) expect(all.has(timeline.nameOf(k))).toBe(catalog.shownOf(k) === 'all');
    const of = (k: number): string => catalog.comment(k).post.community.name;
    const outside = newest.find((k) => catalog.shownOf(k) === 'community')!;
    expect(await everyPage(`/r/${of(outside)}/comments`)).toContain(timeline.nameOf(outside));
    const hidden = newest.find((k) => catalog.shownOf(k) === 'thread')!;
    expect(await everyPage(`/r/${of(hidden)}/comments`)).not.toContain(timeline.nameOf(hidden));
  });

  test('show thread-only comments by id, and hidden ones nowhere', async () => {
    const { catalog, timeline } = simulator.world;
    const thread = comments.filter((k) => catalog.shownOf(k) === 'thread').slice(0, 20);
    const hidden = comments.filter((k) => catalog.shownOf(k) === 'nowhere').slice(0, 20);
    const ids = [...thread, ...hidden].map((k) => timeline.nameOf(k)).join(',');
    const found = namesOf(await simulator.json<Listing>(`/api/info?id=${ids}`));
    expect(found.sort()).toEqual(thread.map((k) => timeline.nameOf(k)).sort());
  });

  test('count in num_comments exactly what the thread shows and what is hidden, at any time', async () => {
    for (let round = 0; round < 3; round++) {
      simulator.clock += 7_000;
      const posts = (await simulator.json<Listing>('/r/all/new?limit=100')).data.children.filter(
        ({ data }) => Number(data.num_comments) > 4 && Number(data.num_comments) < 300,
      );
      expect(posts.length).toBeGreaterThan(5);
      for (const { data } of posts.slice(0, 30)) {
        const { threads, timeline } = simulator.world;
        const k = timeline.find(String(data.name), simulator.clock)!;
        const hidden = threads
          .commentsOf(timeline.item(k).number)
          .filter((c) => timeline.shownInAll(c) === 'nowhere' && timeline.visibleAt(c) <= simulator.clock);
        const shown = await shownInThread(String(data.id));
        expect(shown + hidden.length).toBe(data.num_comments);
      }
    }
  });

  test('are told by /simulator/shown, by minute', async () => {
    const at = (k: number): number => simulator.world.timeline.emittedAt(k)!;
    const from = at(comments[0]!);
    const response = await fetch(`${simulator.url}/simulator/shown?from=${from}&to=${at(comments.at(-1)!) + 1}`);
    const told = (await response.json()) as {
      total: { comments: Record<Shown | 'late', number> };
      spans: { start: number; comments: Record<Shown | 'late', number> }[];
    };
    const { late, ...seen } = told.total.comments;
    const counted = { all: 0, community: 0, thread: 0, nowhere: 0 };
    const { timeline, catalog } = simulator.world;
    let waiting = 0;
    for (let k = comments[0]!; k <= comments.at(-1)!; k++) {
      if (!timeline.exists(k) || timeline.item(k).kind === 'post') continue;
      if (timeline.visibleAt(k) <= simulator.clock) counted[catalog.shownOf(k)]++;
      else waiting++;
    }
    expect(seen).toEqual(counted);
    expect(late).toBe(waiting);
    expect(late).toBeGreaterThan(0);
    expect(told.spans.reduce((sum, span) => sum + span.comments.all, 0)).toBe(counted.all);
    expect((await fetch(`${simulator.url}/simulator/shown?by=day`)).status).toBe(400);
  });
});
