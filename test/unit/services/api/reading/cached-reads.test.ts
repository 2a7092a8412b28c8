import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Post } from '../../../../support/fixtures/cache-reads-fixture.ts';
import { Failure, HOUR, MINUTE, ReadsFixture } from '../../../../support/fixtures/cache-reads-fixture.ts';

let fixture: ReadsFixture;
beforeEach(() => {
  fixture = new ReadsFixture();
});
afterEach(() => fixture.files.remove());

describe('memory', () => {
  test('treats a value from the future as expired, because the clock was set back', async () => {
    const posts = fixture.reads();
    const forum = fixture.source();
    await posts.read('k', forum.fetch);
    fixture.wait(-1);
    expect((await posts.read('k', forum.fetch)).tier).toBe('MISS');
  });

  test('stays within its bytes, including keys and failures', async () => {
    const posts = fixture.reads({ memoryBytes: 20_000 });
    for (let i = 0; i < 300; i += 1) {
      const forum = fixture.source();
      if (i % 3 === 0) forum.failure = new Failure(404);
      await posts.read(`a key of some length/${i}`, forum.fetch).catch(() => undefined);
      expect(posts.memoryUse.bytes).toBeLessThanOrEqual(20_000);
    }
    // Each entry counts for 300 bytes and more.
    expect(posts.memoryUse.entries).toBeLessThan(60);
    expect(posts.memoryUse.bytes).toBeGreaterThan(15_000);
  });
});

describe('disk', () => {
  test('returns a value that memory evicted and stores it in memory again', async () => {
    const level = fixture.disk();
    const forum = fixture.source();
    const at = fixture.now;
    await fixture.reads({ disk: level }).read('k', forum.fetch);
    fixture.wait(1000);
    const afterRestart = fixture.reads({ disk: level });
    expect(await afterRestart.read('k', forum.fetch)).toEqual({
      value: { title: 'answer 1', createdAtMs: at },
      tier: 'L2_BADGER',
      degraded: false,
      fetchedAtMs: at,
    });
    expect(await afterRestart.read('k', forum.fetch)).toMatchObject({ tier: 'L1_TINYLFU', fetchedAtMs: at });
    expect(forum.calls).toBe(1);
  });

  test('treats a value that cannot be deserialised as not found', async () => {
    const level = fixture.disk();
    const forum = fixture.source();
    level.cache.set('broken', Buffer.from('{'), fixture.now + HOUR);
    level.cache.set('foreign', Buffer.from('{}'), fixture.now + HOUR);
    const posts = fixture.reads({
      disk: { ...level, deserialize: (data) => (data.length === 2 ? undefined : level.deserialize(data)) },
    });
    expect((await posts.read('broken', forum.fetch)).tier).toBe('MISS');
    expect((await posts.read('foreign', forum.fetch)).tier).toBe('MISS');
  });
});

describe('concurrent reads', () => {
  test('a caller that aborts fails alone; when all abort, nothing is cached', async () => {
    const posts = fixture.reads({ negativeForMs: () => MINUTE });
    const impatient = new AbortController();
    let answer: ((post: Post) => void) | undefined;
    const fetch = (signal: AbortSignal) =>
      new Promise<Post>((resolve, reject) => {
        answer = resolve;
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    const first = posts.read('k', fetch, impatient.signal);
    const second = posts.read('k', fetch);
    impatient.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    answer?.({ title: 'still', createdAtMs: fixture.now });
    expect((await second).value.title).toBe('still');

    const alone = new AbortController();
    const third = posts.read('other', fetch, alone.signal);
    alone.abort(new Error('gone, too'));
    await expect(third).rejects.toThrow('gone, too');
    await new Promise(setImmediate);
    expect((await posts.read('other', fixture.source().fetch)).tier).toBe('MISS');
  });
});

describe('put', () => {
  test('stores the value on both levels with the given fetch time', async () => {
    const level = fixture.disk();
    const posts = fixture.reads({ disk: level });
    const forum = fixture.source();
    const { value, fetchedAtMs } = await posts.read('k', forum.fetch);
    fixture.wait(30_000);
    posts.put('k', { ...value, title: 'with more' }, fetchedAtMs);
    for (const [cache, tier] of [
      [posts, 'L1_TINYLFU'],
      [fixture.reads({ disk: level }), 'L2_BADGER'],
    ] as const) {
      expect(await cache.read('k', forum.fetch)).toMatchObject({ value: { title: 'with more' }, tier, fetchedAtMs });
    }
    fixture.wait(30_000);
    expect((await posts.read('k', forum.fetch)).tier).toBe('MISS');
  });

  test('does not replace a newer value or a newer failure', async () => {
    const posts = fixture.reads();
    const forum = fixture.source();
    const old = await posts.read('k', forum.fetch);
    fixture.wait(MINUTE);
    await posts.read('k', forum.fetch);
    posts.put('k', old.value, old.fetchedAtMs);
    expect((await posts.read('k', forum.fetch)).value.title).toBe('answer 2');
    fixture.wait(MINUTE);
    forum.failure = new Failure(404);
    await expect(posts.read('k', forum.fetch)).rejects.toBe(forum.failure);
    posts.put('k', old.value, old.fetchedAtMs);
    await expect(posts.read('k', forum.fetch)).rejects.toBe(forum.failure);
  });
});

describe('a fetch that fails', () => {
  test('is answered by the copy on disk', async () => {
    const level = fixture.disk();
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
    const level = fixture.disk();
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
    const level = fixture.disk();
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
