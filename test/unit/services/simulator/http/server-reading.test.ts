import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Listing, Thing } from '../../../../support/fakes/running-simulator.ts';
import { namesOf, RunningSimulator } from '../../../../support/fakes/running-simulator.ts';

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

  test('focus on one comment with its ancestors', async () => {
    const { timeline, threads } = simulator.world;
    const depthOf = (k: number): number => (timeline.item(k).kind === 'post' ? 0 : 1 + depthOf(threads.parentOf(k)));
    const deep = threads.commentsOf(0).find((k) => depthOf(k) === 4)!;
    const [, comments] = await simulator.json<[Listing, Listing]>(
      `/comments/${hugePost()}/_/${timeline.idOf(deep)}?context=2`,
    );
    expect(comments.data.children).toHaveLength(1);
    const path = flatten(comments.data.children).slice(0, 3);
    expect(path[2]!.data.name).toBe(timeline.nameOf(deep));
    expect(path.map((thing) => thing.data.depth)).toEqual([0, 1, 2]);
  });

  test('show crossposts with their originals, and originals with their crossposts', async () => {
    const { catalog, timeline } = simulator.world;
    const number = Array.from({ length: 3000 }, (_, i) => i).find(
      (i) => catalog.postNumbered(i).form === 'crosspost' && timeline.exists(catalog.postNumbered(i).k),
    )!;
    const crosspost = catalog.postNumbered(number);
    const original = timeline.idOf(catalog.postNumbered(crosspost.original!).k);
    const [shown] = await simulator.json<[Listing]>(`/comments/${timeline.idOf(crosspost.k)}`);
    expect(shown.data.children[0]!.data).toMatchObject({
      crosspost_parent: `t3_${original}`,
      crosspost_parent_list: [{ id: original }],
    });
    const [, duplicates] = await simulator.json<[Listing, Listing]>(`/duplicates/${original}`);
    expect(namesOf(duplicates)).toContain(timeline.nameOf(crosspost.k));
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

  test('describe communities and rules', async () => {
    const about = await simulator.json<Thing>('/r/COFFEE/about');
    expect(about).toMatchObject({
      kind: 't5',
      data: { display_name: 'Coffee', over18: false, subreddit_type: 'public' },
    });
    const rules = await simulator.json<{ rules: object[]; site_rules: string[] }>('/r/Coffee/about/rules');
    expect(rules.rules[2]).not.toHaveProperty('description_html');
    const popular = await simulator.json<Listing>('/subreddits/popular?limit=100');
    expect(popular.data.children.length).toBeGreaterThan(36);
    expect(namesOf(popular)).not.toContain('t5_5a01d');
  });

  test('describe users and list their posts and comments', async () => {
    const suspended = await simulator.json<Thing>('/user/suspended_sam/about');
    expect(suspended.data).toMatchObject({ name: 'suspended_sam', is_suspended: true });
    expect(suspended.data).not.toHaveProperty('link_karma');
    const author = 'AutoModerator';
    const about = await simulator.json<Thing>(`/user/${author}/about`);
    expect(about).toMatchObject({ kind: 't2', data: { name: author } });
    const comments = await simulator.json<Listing>(`/user/${author}/comments?limit=100`);
    expect(comments.data.children.length).toBeGreaterThan(10);
    expect(comments.data.children.every((thing) => thing.kind === 't1' && thing.data.author !== 'x')).toBe(true);
    const posts = await simulator.json<Listing>(`/user/${author}/submitted`);
    expect(posts.data.children.every((thing) => thing.kind === 't3')).toBe(true);
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
