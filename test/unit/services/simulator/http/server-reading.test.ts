import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Listing, Thing } from '../../../../support/fakes/running-simulator.ts';
import { RunningSimulator } from '../../../../support/fakes/running-simulator.ts';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await RunningSimulator.start();
});

afterAll(() => simulator.stop());

describe('simulator threads over HTTP', () => {
  const hugePost = (): string => simulator.world.timeline.idOf(0);

  function flatten(things: Thing[]): Thing[] {
    return things.flatMap((thing) => {
      const replies = thing.data.replies as Listing | '' | undefined;
      return [thing, ...(replies ? flatten(replies.data.children) : [])];
    });
  }

  test('show a tree, and morechildren returns every comment that the tree left out', async () => {
    const [post, comments] = await simulator.json<[Listing, Listing]>(`/comments/${hugePost()}?limit=300`);
    expect(post.data.children[0]!.kind).toBe('t3');
    const seen = new Map<string, string>();
    const stubs = [...flatten(comments.data.children)];
    expect(stubs.filter((thing) => thing.kind === 't1')).toHaveLength(300);
    while (stubs.length > 0) {
      const thing = stubs.shift()!;
      if (thing.kind === 't1') seen.set(String(thing.data.name), String(thing.data.parent_id));
      else if (thing.data.count === 0) {
        const parent = String(thing.data.parent_id).slice(3);
        const [, rest] = await simulator.json<[Listing, Listing]>(`/comments/${hugePost()}/_/${parent}?limit=500`);
        stubs.push(...flatten(rest.data.children));
      } else {
        const ids = thing.data.children as string[];
        for (let start = 0; start < ids.length; start += 100) {
          const children = ids.slice(start, start + 100).join(',');
          const body = new URLSearchParams({ link_id: `t3_${hugePost()}`, children, api_type: 'json' });
          const answer = await simulator.json<{ json: { data: { things: Thing[] } } }>('/api/morechildren', {
            method: 'POST',
            body,
          });
          stubs.push(...answer.json.data.things);
        }
      }
    }
    const { timeline, threads } = simulator.world;
    const all = threads.commentsOf(0).filter((k) => timeline.visibleAt(k) <= simulator.clock);
    expect(all.length).toBeGreaterThan(2000);
    expect([...seen.keys()].sort()).toEqual(all.map((k) => timeline.nameOf(k)).sort());
  });
});

describe('simulator communities, users and search', () => {
  test.each([
    ['/r/backroom/about', 403, { reason: 'private', message: 'Forbidden', error: 403 }],
    ['/r/thelounge/new', 403, { reason: 'gold_only', message: 'Forbidden', error: 403 }],
    ['/r/doubtfulcures/hot', 403, { reason: 'quarantined', message: 'Forbidden', error: 403 }],
    ['/r/brokenrules/about', 404, { reason: 'banned', message: 'Not Found', error: 404 }],
    ['/user/nobody_of_that_name/about', 404, { message: 'Not Found', error: 404 }],
    ['/comments/zzzzzz', 404, { message: 'Not Found', error: 404 }],
    ['/no/such/route', 404, { message: 'Not Found', error: 404 }],
  ])('answer %s with %i', async (path, status, body) => {
    const response = await simulator.ask(path);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(body);
  });

  test('redirect an unknown community to the search page, and a share link to the post', async () => {
    const unknown = await simulator.ask('/r/nowhere_at_all/about');
    expect([unknown.status, unknown.headers.get('location')]).toEqual([302, '/subreddits/search?q=nowhere_at_all']);
    const share = await simulator.ask(`/r/programming/s/${simulator.world.timeline.idOf(0)}`);
    expect(share.status).toBe(301);
    expect(share.headers.get('location')).toContain(`/comments/${simulator.world.timeline.idOf(0)}/`);
  });

  test('search posts by word, phrase and field, communities and users', async () => {
    const coffee = await simulator.json<Listing>('/search?q=coffee&sort=new&limit=100');
    expect(coffee.data.children.length).toBeGreaterThan(5);
    for (const { data } of coffee.data.children)
      expect(`${String(data.title)} ${String(data.selftext)}`).toMatch(/coffee/i);
    const fields = await simulator.json<Listing>('/r/linux/search?q=self:yes&restrict_sr=1&limit=100');
    expect(fields.data.children.every(({ data }) => data.is_self === true && data.subreddit === 'linux')).toBe(true);
    expect((await simulator.json<Listing>('/search?q=coffee&type=sr')).data.children[0]).toMatchObject({ kind: 't5' });
    expect((await simulator.json<Listing>('/search?q=badger&type=user')).data.children[0]).toMatchObject({
      kind: 't2',
    });
    expect((await simulator.json<Listing>('/search?q=%22no such phrase here%22')).data.children).toEqual([]);
  });
});
