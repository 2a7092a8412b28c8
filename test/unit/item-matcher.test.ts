import { expect, test } from 'vitest';
import type { Candidate } from '../../schemas/candidate.ts';
import { HeldMonitors } from '../../services/matcher/held-monitors.ts';
import { ItemMatcher } from '../../services/matcher/item-matcher.ts';
import { RecentItems } from '../../services/matcher/recent-items.ts';
import type { ConsumedBatch } from '../../shared/kafka/consumed-batch.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import { commentItem } from '../support/forum-items.ts';
import { silentLogger } from '../support/silent-logger.ts';

const TOPIC = 'forum.comments';
const SLOT = 'forum.comments|0';

function matcherOf(monitorCount: number) {
  const monitors = new HeldMonitors();
  const rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
  for (let number = 0; number < monitorCount; number++) {
    const versions = [{ version: 1, sinceMs: 0 }];
    monitors.set({ id: `mon_${number}`, rule, version: 1, activeSinceMs: 0, versions });
  }
  const recent = new RecentItems();
  const published: Candidate[][] = [];
  const matcher = new ItemMatcher({
    monitors,
    recent,
    changes: { settled: () => Promise.resolve() },
    publish: (candidates) => {
      published.push(candidates);
      return Promise.resolve();
    },
    metrics: createMetrics(),
    logger: silentLogger(),
    toleranceMs: 0,
  });
  return { matcher, recent, published };
}

function batchOf(texts: string[], more: Partial<ConsumedBatch> = {}): ConsumedBatch {
  return {
    topic: TOPIC,
    partition: 0,
    records: texts.map((body, index) => ({
      topic: TOPIC,
      partition: 0,
      offset: BigInt(index),
      key: `t1_${index}`,
      value: Buffer.from(body === 'unreadable' ? '{' : JSON.stringify(commentItem(index, body))),
      headers: {},
      timestampMs: 1_000 + index,
    })),
    committedOffset: 0n,
    isRefill: false,
    isCurrent: () => true,
    heartbeat: () => Promise.resolve(),
    signal: new AbortController().signal,
    ...more,
  };
}

test('a word that everybody watches is published in portions, not gathered', async () => {
  const { matcher, published } = matcherOf(1_500);
  await matcher.handle(batchOf(Array.from({ length: 20 }, () => 'rust')));
  expect(published.flat()).toHaveLength(30_000);
  expect(Math.max(...published.map(({ length }) => length))).toBeLessThan(2_000 + 1_500);
});

test('one item of 150,000 monitors is matched', async () => {
  const { matcher, published } = matcherOf(150_000);
  await matcher.handle(batchOf(['rust']));
  expect(published.flat()).toHaveLength(150_000);
});

test('long work is cut by heartbeats', async () => {
  const { matcher } = matcherOf(0);
  let beats = 0;
  const heartbeat = () => {
    beats++;
    return Promise.resolve();
  };
  const text = 'iron water air '.repeat(1_000);
  const started = performance.now();
  await matcher.handle(
    batchOf(
      Array.from({ length: 200 }, () => text),
      { heartbeat },
    ),
  );
  const elapsed = performance.now() - started;
  expect(elapsed, 'else the test says nothing').toBeGreaterThan(20);
  expect(beats).toBeGreaterThan(0);
});

test('a batch that is taken away in the middle fills the ring no further and publishes nothing more', async () => {
  const { matcher, recent, published } = matcherOf(1);
  let mine = true;
  const heartbeat = () => {
    mine = false;
    return Promise.resolve();
  };
  const texts = Array.from({ length: 2_000 }, () => `rust ${'iron water air '.repeat(200)}`);
  const outcome = await matcher.handle(batchOf(texts, { heartbeat, isCurrent: () => mine }));
  expect(mine, 'else the test says nothing').toBe(false);
  expect(outcome.metadata).toBeUndefined();
  expect(recent.size).toBeLessThan(2_000);
  expect(published).toEqual([]);
});

test('what is committed tells where the ring begins and when its last record entered, poison or not', async () => {
  const { matcher, published } = matcherOf(1);
  const outcome = await matcher.handle(batchOf(['rust', 'iron', 'unreadable']));
  expect(JSON.parse(outcome.metadata!)).toEqual({ refill: '0', at: 1_002 });
  expect(outcome.poison?.map(({ record }) => record.offset)).toEqual([2n]);
  expect(published.flat().map(({ item }) => item.thing_id)).toEqual(['t1_0']);
});

test('a batch of poison alone refills from behind it', async () => {
  const { matcher } = matcherOf(1);
  const outcome = await matcher.handle(batchOf(['unreadable']));
  expect(JSON.parse(outcome.metadata!)).toEqual({ refill: '1', at: 1_000 });
});

test('after a join the ring is empty and reading begins where the last owner’s began, never behind its commit', async () => {
  const { matcher, recent } = matcherOf(0);
  await matcher.handle(batchOf(['rust']));
  expect(recent.oldestOffset(SLOT)).toBe(0n);
  const seeks: string[] = [];
  const at = (partition: number, offset: bigint | undefined, metadata: string) => ({
    topic: TOPIC,
    partition,
    offset,
    metadata,
  });
  await matcher.assigned({
    committed: () => [
      at(0, 90n, '{"refill":"40","at":5}'),
      at(1, 90n, '{"refill":"91","at":5}'),
      at(2, 90n, ''),
      at(3, 90n, 'not JSON'),
      at(4, 90n, '{"refill":"-1","at":5}'),
      at(5, undefined, ''),
    ],
    seek: (_, partition, offset) => void seeks.push(`${partition} → ${offset}`),
    signal: new AbortController().signal,
  });
  expect(recent.size).toBe(0);
  expect(seeks).toEqual(['0 → 40', '1 → 90']);
});
