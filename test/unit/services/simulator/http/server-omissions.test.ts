import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
});
