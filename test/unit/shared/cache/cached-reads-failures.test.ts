import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Failure, HOUR, MINUTE, ReadsFixture } from '../../../support/fixtures/cache-reads-fixture.ts';

let fixture: ReadsFixture;
beforeEach(() => {
  fixture = new ReadsFixture();
});
afterEach(() => fixture.files.remove());

describe('a fetch that fails', () => {
  test('leaves the copy in memory to stand in, for an hour', async () => {
    const posts = fixture.reads();
    const forum = fixture.source();
    const at = fixture.now;
    await posts.read('k', forum.fetch);
    forum.failure = new Failure(503);
    fixture.wait(HOUR - 1);
    expect(await posts.read('k', forum.fetch)).toEqual({
      value: { title: 'answer 1', createdAtMs: at },
      tier: 'L1_TINYLFU',
      degraded: true,
      fetchedAtMs: at,
    });
    fixture.wait(1);
    await expect(posts.read('k', forum.fetch)).rejects.toBe(forum.failure);
  });

  test('leaves the copy on disk to stand in', async () => {
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

  test('is asked again with the next read, which is not degraded any more', async () => {
    const posts = fixture.reads({ staleForMs: 5 * MINUTE });
    const forum = fixture.source();
    await posts.read('k', forum.fetch);
    forum.failure = new Failure(503);
    fixture.wait(2 * MINUTE);
    expect((await posts.read('k', forum.fetch)).degraded).toBe(true);
    forum.failure = undefined;
    expect(await posts.read('k', forum.fetch)).toMatchObject({ value: { title: 'answer 3' }, degraded: false });
  });

  test('without a copy, or for which none may stand in, is thrown to all who wait and not remembered', async () => {
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

describe('a failure that is an answer', () => {
  test('is thrown again for its time without asking', async () => {
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

  test('replaces the copies: what is gone does not come back when trouble follows', async () => {
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
