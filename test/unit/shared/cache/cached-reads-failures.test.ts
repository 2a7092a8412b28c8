import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Failure, HOUR, MINUTE, ReadsFixture } from '../../../support/fixtures/cache-reads-fixture.ts';

let fixture: ReadsFixture;
beforeEach(() => {
  fixture = new ReadsFixture();
});
afterEach(() => fixture.files.remove());

describe('a fetch that fails', () => {
  test('is answered by the copy on disk', async () => {
    const level = await fixture.disk();
    const forum = fixture.source();
    const at = fixture.now;
    await fixture.reads({ disk: level }).read('k', forum.fetch);
    forum.failure = new Failure(503);
    fixture.wait(HOUR - 1);
    const answer = await fixture.reads({ disk: level }).read('k', forum.fetch);
    expect(answer).toMatchObject({ tier: 'L2_BADGER', degraded: true, fetchedAtMs: at });
    fixture.wait(1);
    await expect(fixture.reads({ disk: level }).read('k', forum.fetch)).rejects.toBe(forum.failure);
  });

  test('is answered from the disk once for each of many values, and then from memory, in a long outage', async () => {
    const level = await fixture.disk();
    const forum = fixture.source();
    const keys = Array.from({ length: 10 }, (_, number) => `k ${number}`);
    const before = fixture.reads({ disk: level });
    for (const key of keys) await before.read(key, forum.fetch);
    fixture.wait(20 * MINUTE);
    forum.failure = new Failure(503);
    const posts = fixture.reads({ disk: level });
    const readAll = async () => {
      const tiers = new Set<string>();
      for (const key of keys) tiers.add((await posts.read(key, forum.fetch)).tier);
      return [...tiers];
    };
    expect(await readAll()).toEqual(['L2_BADGER']);
    expect(await readAll()).toEqual(['L1_TINYLFU']);
    fixture.wait(10 * MINUTE - 1);
    await posts.read('other', fixture.source().fetch);
    expect(await readAll()).toEqual(['L1_TINYLFU']);
  });

  test('is thrown to all waiting callers and not cached when no copy may replace it', async () => {
    const posts = fixture.reads();
    const forum = fixture.source();
    forum.failure = new Failure(503);
    const all = await Promise.allSettled([posts.read('k', forum.fetch), posts.read('k', forum.fetch)]);
    expect(all.map((result) => result.status === 'rejected' && result.reason === forum.failure)).toEqual([true, true]);
    forum.failure = undefined;
    await posts.read('k', forum.fetch);
    fixture.wait(MINUTE);
    forum.failure = new Failure(400);
    await expect(posts.read('k', forum.fetch)).rejects.toBe(forum.failure);
    expect(forum.calls).toBe(3);
  });
});

describe('a cached failure', () => {
  test('is thrown again without a fetch until it expires', async () => {
    const posts = fixture.reads();
    const forum = fixture.source();
    const notFound = (forum.failure = new Failure(404));
    await expect(posts.read('k', forum.fetch)).rejects.toBe(notFound);
    forum.failure = undefined;
    fixture.wait(MINUTE - 1);
    await expect(posts.read('k', forum.fetch)).rejects.toBe(notFound);
    expect(forum.calls).toBe(1);
    fixture.wait(1);
    expect((await posts.read('k', forum.fetch)).tier).toBe('MISS');
  });

  test('replaces the copies, so a deleted value does not reappear during an outage', async () => {
    const level = await fixture.disk();
    const posts = fixture.reads({ disk: level });
    const forum = fixture.source();
    await posts.read('k', forum.fetch);
    fixture.wait(2 * MINUTE);
    forum.failure = new Failure(403);
    await expect(posts.read('k', forum.fetch)).rejects.toBe(forum.failure);
    fixture.wait(MINUTE);
    forum.failure = new Failure(503);
    await expect(posts.read('k', forum.fetch)).rejects.toBe(forum.failure);
    await expect(fixture.reads({ disk: level }).read('k', forum.fetch)).rejects.toBe(forum.failure);
  });
});
