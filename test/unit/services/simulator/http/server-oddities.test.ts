import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Listing } from '../../../../support/fakes/running-simulator.ts';
import { namesOf, RunningSimulator } from '../../../../support/fakes/running-simulator.ts';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await RunningSimulator.start({ history: 2000 });
});

afterAll(() => simulator.stop());

afterEach(async () => {
  for (const route of ['faults', 'shapes']) await fetch(`${simulator.url}/simulator/${route}`, { method: 'DELETE' });
});

async function emit(item: object): Promise<{ name: string; id: string }> {
  const response = await simulator.control('emit', item);
  expect(response.status).toBe(200);
  return (await response.json()) as { name: string; id: string };
}

async function infoOf(name: string): Promise<Record<string, unknown>> {
  return (await simulator.json<Listing>(`/api/info?raw_json=1&id=${name}`)).data.children[0]!.data;
}

describe('odd answers of the simulator', () => {
  test('a duplicated listing repeats children and keeps the place of the next page', async () => {
    const plain = await simulator.json<Listing>('/r/all/comments?limit=10');
    await simulator.control('faults', { kind: 'duplicates', count: 1 });
    const odd = await simulator.json<Listing>('/r/all/comments?limit=10');
    expect(namesOf(odd)).toHaveLength(15);
    expect(new Set(namesOf(odd))).toEqual(new Set(namesOf(plain)));
    expect(odd.data.after).toBe(plain.data.after);
  });

  test('a stale listing is the one of a while ago', async () => {
    const before = await simulator.json<Listing>('/r/all/comments?limit=50');
    simulator.clock += 4000;
    await simulator.control('faults', { kind: 'stale', count: 1, age_ms: 4000 });
    expect(namesOf(await simulator.json<Listing>('/r/all/comments?limit=50'))).toEqual(namesOf(before));
    expect(namesOf(await simulator.json<Listing>('/r/all/comments?limit=50'))).not.toEqual(namesOf(before));
  });

  test('an item of unknown shape has it in listings, in its thread and by id, until it is cleared', async () => {
    const post = await emit({ kind: 'post', title: 'a host' });
    const comment = await emit({
      kind: 'comment',
      text: 'odd',
      post: post.name,
      shape: { field: 'body', value: 7 },
    });
    const bodies = async (): Promise<unknown[]> => {
      const listed = (await simulator.json<Listing>('/r/all/comments?limit=1')).data.children[0]!;
      const [, tree] = await simulator.json<[Listing, Listing]>(`/comments/${post.id}`);
      return [listed, tree.data.children[0]!, { data: await infoOf(comment.name) }].map(({ data }) => data.body);
    };
    expect(await bodies()).toEqual([7, 7, 7]);
    await fetch(`${simulator.url}/simulator/shapes`, { method: 'DELETE' });
    expect(await bodies()).toEqual(['odd', 'odd', 'odd']);
    expect((await simulator.control('shapes', { name: post.name, field: 'title' })).status).toBe(200);
    expect('title' in (await infoOf(post.name))).toBe(false);
    expect((await simulator.control('shapes', { name: 'x', field: 'title' })).status).toBe(400);
  });

  test('an item can have any date and any visibility', async () => {
    const dated = await emit({ kind: 'post', title: 'from the future', created_utc: 4_000_000_000 });
    expect((await infoOf(dated.name)).created_utc).toBe(4_000_000_000);
    const hidden = await emit({ kind: 'comment', text: 'unseen', post: dated.name, shown: 'nowhere' });
    const inThread = await emit({ kind: 'comment', text: 'in the thread', post: dated.name, shown: 'thread' });
    const listed = namesOf(await simulator.json<Listing>('/r/programming/comments?limit=5'));
    expect(listed).not.toContain(hidden.name);
    expect(listed).not.toContain(inThread.name);
    const [head, tree] = await simulator.json<[Listing, Listing]>(`/comments/${dated.id}`);
    expect(namesOf(tree)).toEqual([inThread.name]);
    expect(head.data.children[0]!.data.num_comments).toBe(2);
  });

  test('a removed item loses its text at once, a deleted one its author too', async () => {
    const post = await emit({ kind: 'post', title: 'to remove', text: 'secret' });
    const comment = await emit({ kind: 'comment', text: 'secret', post: post.name });
    expect((await simulator.control('remove', { name: post.name })).status).toBe(200);
    expect(await infoOf(post.name)).toMatchObject({ selftext: '[removed]', removed_by_category: 'moderator' });
    expect((await simulator.control('remove', { name: comment.name, how: 'deleted' })).status).toBe(200);
    expect(await infoOf(comment.name)).toMatchObject({ body: '[deleted]', author: '[deleted]' });
    expect((await simulator.control('remove', { name: 't1_zzz' })).status).toBe(404);
    expect((await simulator.control('remove', { name: post.name, how: 'eaten' })).status).toBe(400);
  });
});
