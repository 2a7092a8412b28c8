import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Listing, Thing } from '../../../../support/fakes/running-simulator.ts';
import { AGENT, namesOf, RunningSimulator } from '../../../../support/fakes/running-simulator.ts';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await RunningSimulator.start();
});

afterAll(() => simulator.stop());

describe('simulator access', () => {
  test('answers 401 to a token request without credentials', async () => {
    const headers = { 'user-agent': AGENT };
    const response = await fetch(`${simulator.url}/api/v1/access_token`, { method: 'POST', headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ message: 'Unauthorized', error: 401 });
  });

  test.each(['', 'bearer nonsense', 'bearer e30.e30'])(
    'answers 401 to the authorization header %j',
    async (authorization) => {
      const response = await simulator.ask('/new', { headers: { authorization } });
      expect(response.status).toBe(401);
    },
  );

  test('reports the quota in every response and refuses calls over it', async () => {
    const { Access } = await import('../../../../../services/simulator/http/access.ts');
    const access = new Access({ seed: 1, callsPerWindow: 2, windowMs: 600_000, clients: new Map() });
    const issued = access.issue(`Basic ${btoa('a:b')}`, 'client_credentials', 0).body as { access_token: string };
    const bearer = `bearer ${issued.access_token}`;
    expect(access.admit(bearer, 1000).headers).toMatchObject({
      'x-ratelimit-remaining': '1.0',
      'x-ratelimit-reset': '600',
    });
    access.admit(bearer, 2000);
    const over = access.admit(bearer, 301_000);
    expect(over.refusal).toMatchObject({ status: 429, headers: { 'retry-after': '300' } });
    expect(access.admit(bearer, 602_000).refusal).toBeUndefined();
  });
});

describe('simulator listings', () => {
  test('page through the newest thousand comments without gaps or duplicates', async () => {
    const found: string[] = [];
    let after: string | null = '';
    while (after !== null) {
      const page: Listing = await simulator.json(
        `/r/all/comments?limit=100&raw_json=1&after=${after}`.replace(/&after=$/, ''),
      );
      found.push(...namesOf(page));
      after = page.data.after;
    }
    expect(found).toHaveLength(1000);
    expect(new Set(found).size).toBe(1000);
    expect(found).toEqual(
      simulator.world.index.newest('comment', 'all').map((k) => simulator.world.timeline.nameOf(k)),
    );
  });

  test('contain the fields that a crawler needs', async () => {
    const comment = (await simulator.json<Listing>('/r/all/comments?limit=1&raw_json=1')).data.children[0]!;
    expect(comment.kind).toBe('t1');
    expect(comment.data).toMatchObject({ replies: '', edited: false, link_title: expect.any(String) as string });
    expect(typeof comment.data.over_18).toBe('boolean');
    expect(comment.data.created_utc).toBeLessThanOrEqual(simulator.clock / 1000);
    const post = (await simulator.json<Listing>('/r/all/new?limit=1&raw_json=1')).data.children[0]!;
    expect(post.kind).toBe('t3');
    expect(post.data).toMatchObject({
      removed_by_category: null,
      user_reports: [],
      num_comments: expect.any(Number) as number,
    });
  });

  test('join several communities and leave out unreadable ones', async () => {
    const joined = await simulator.json<Listing>('/r/rust+Coffee+backroom+nowhere/comments?limit=100');
    expect(new Set(joined.data.children.map((thing) => thing.data.subreddit))).toEqual(new Set(['rust', 'Coffee']));
    const times = joined.data.children.map((thing) => Number(thing.data.created_utc));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('find posts, comments and communities by id and leave out unknown ids', async () => {
    const post = namesOf(await simulator.json<Listing>('/r/all/new?limit=1'))[0]!;
    const comment = namesOf(await simulator.json<Listing>('/r/all/comments?limit=1'))[0]!;
    const found = namesOf(
      await simulator.json<Listing>(`/api/info?id=${comment},t3_zzz,${post},t5_5a001,t1_zzzzzzzzzzzzz`),
    );
    expect(found.sort()).toEqual([comment, post, 't5_5a001'].sort());
    expect((await simulator.ask(`/api/info?id=${Array(101).fill(post).join(',')}`)).status).toBe(400);
  });
});

describe('simulator control', () => {
  beforeEach(async () => {
    await fetch(`${simulator.url}/simulator/faults`, { method: 'DELETE' });
  });

  test.each([
    ['429', 429, 'Too Many Requests'],
    ['html403', 403, '<!doctype html>'],
    ['5xx', 503, '<!doctype html>'],
  ])('applies the fault %s to the given number of requests', async (kind, status, start) => {
    await simulator.control('faults', { kind, count: 1, retry_after: 7 });
    const response = await simulator.ask('/new');
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(start);
    expect(response.headers.get('retry-after')).toBe(kind === '429' ? '7' : null);
    expect((await simulator.ask('/new')).status).toBe(200);
  });

  test('applies an outage for the given time and path only', async () => {
    await simulator.control('faults', { kind: 'outage', seconds: 10, path: '/api/info' });
    await expect(simulator.ask('/api/info?id=t3_1')).rejects.toThrow();
    expect((await simulator.ask('/new')).status).toBe(200);
    simulator.clock += 10_001;
    expect((await simulator.ask('/api/info?id=t3_1')).status).toBe(200);
  });

  test('expires all tokens', async () => {
    await simulator.control('faults', { kind: 'expired-tokens' });
    expect((await simulator.ask('/new')).status).toBe(401);
    simulator.clock += 10;
    simulator.token = await simulator.newToken();
    expect((await simulator.ask('/new')).status).toBe(200);
  });

  test('emits an item that is found at once in listings, in threads and by id', async () => {
    const made = await simulator.control('emit', {
      kind: 'post',
      title: 'Needle & thread',
      text: 'hay',
      subreddit: 'coffee',
    });
    const post = (await made.json()) as { name: string; id: string };
    const listed = (await simulator.json<Listing>('/r/Coffee/new?limit=1&raw_json=1')).data.children[0]!.data;
    expect(listed).toMatchObject({
      name: post.name,
      title: 'Needle & thread',
      selftext: 'hay',
      author: 'simulator_user',
    });
    const reply = (await (
      await simulator.control('emit', { kind: 'comment', text: 'found', post: post.name })
    ).json()) as {
      name: string;
    };
    const comment = (await simulator.json<Listing>('/r/all/comments?limit=1')).data.children[0]!.data;
    expect(comment).toMatchObject({
      name: reply.name,
      body: 'found',
      link_title: 'Needle &amp; thread',
      parent_id: post.name,
    });
    const [, tree] = await simulator.json<[Listing, Listing]>(`/comments/${post.id}`);
    expect(namesOf(tree)).toEqual([reply.name]);
    expect(namesOf(await simulator.json<Listing>(`/api/info?id=${reply.name}`))).toEqual([reply.name]);
    expect((await simulator.json<Thing>('/user/simulator_user/about')).data.name).toBe('simulator_user');
  });
});
