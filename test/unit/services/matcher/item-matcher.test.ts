import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Candidate } from '../../../../schemas/messages/monitor-match.ts';
import { ActiveMonitors } from '../../../../services/matcher/active-monitors.ts';
import { ItemMatcher } from '../../../../services/matcher/item-matcher.ts';
import { RecentItems } from '../../../../services/matcher/recent-items.ts';
import type { ConsumedBatch } from '../../../../shared/kafka/consumed-batch.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import { CooperativeYield } from '../../../../shared/runtime/clock.ts';
import { commentItem } from '../../../support/samples/forum-items.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

const TOPIC = 'forum.comments';
const SLOT = 'forum.comments|0';

/** @param cooperativeYield with 0 ms it yields to the event loop after every piece of work */
function matcherOf(monitorCount: number, cooperativeYield = new CooperativeYield()) {
  const monitors = new ActiveMonitors();
  const rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
  for (let number = 0; number < monitorCount; number++) {
    const versions = [{ version: 1, sinceMs: 0 }];
    monitors.set({ id: `mon_${number}`, rule, version: 1, activeSinceMs: 0, versions });
  }
  const recent = new RecentItems();
  const published: string[][] = [];
  const matcher = new ItemMatcher({
    monitors,
    recent,
    changes: { settled: () => Promise.resolve() },
    publish: (records) => {
      published.push(records.map(({ value }) => String(value)));
      return Promise.resolve();
    },
    cooperativeYield,
    metrics: createMetrics(),
    logger: silentLogger(),
    toleranceMs: 0,
  });
  const candidates = () => published.flat().map((value) => JSON.parse(value) as Candidate);
  return { matcher, monitors, recent, published, candidates };
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

test('an item that 150,000 monitors match is published completely, in batches of at most 500', async () => {
  const { matcher, published } = matcherOf(150_000);
  await matcher.handle(batchOf(['rust']));
  expect(published.flat()).toHaveLength(150_000);
  expect(Math.max(...published.map(({ length }) => length))).toBeLessThanOrEqual(500);
});

test('a batch whose partition is revoked midway adds no more recent items and publishes nothing more', async () => {
  const { matcher, recent, published } = matcherOf(1, new CooperativeYield(0));
  let mine = true;
  const losing = setImmediate().then(() => (mine = false));
  const outcome = await matcher.handle(
    batchOf(
      Array.from({ length: 200 }, () => 'rust'),
      { isCurrent: () => mine },
    ),
  );
  await losing;
  expect(outcome.metadata).toBeUndefined();
  expect(recent.size).toBeLessThan(200);
  expect(published).toEqual([]);
});

test('a refill batch fills the recent items and matches only monitors that started shortly before the last commit', async () => {
  const { matcher, monitors, recent, candidates } = matcherOf(3);
  const rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
  const at = 1_000_000;
  for (const [id, began] of [
    ['long ago', at - 30_001],
    ['perhaps unknown', at - 30_000],
    ['since then', at + 1_000],
  ] as const) {
    monitors.set({ id, rule, version: 1, activeSinceMs: began, versions: [{ version: 1, sinceMs: began }] });
  }
  await matcher.assigned({
    committed: () => [{ topic: TOPIC, partition: 0, offset: 2n, metadata: JSON.stringify({ refill: '0', at }) }],
    seek: () => undefined,
    signal: new AbortController().signal,
  });
  const batch = batchOf(['rust', 'rust'], { isRefill: true, committedOffset: 2n });
  const times = [at - 40_000, at];
  batch.records = batch.records.map((record, index) => ({ ...record, timestampMs: times[index]! }));
  await matcher.handle(batch);
  expect(recent.size).toBe(2);
  expect(candidates().map(({ monitor_id, item }) => `${monitor_id} ${item.thing_id}`)).toEqual([
    'perhaps unknown t1_1',
  ]);
});

test('the commit metadata has the start of the recent items and the append time of the last record, even a poison one', async () => {
  const { matcher, candidates } = matcherOf(1);
  const outcome = await matcher.handle(batchOf(['rust', 'iron', 'unreadable']));
  expect(JSON.parse(outcome.metadata!)).toEqual({ refill: '0', at: 1_002 });
  expect(outcome.poison?.map(({ record }) => record.offset)).toEqual([2n]);
  expect(candidates().map(({ item }) => item.thing_id)).toEqual(['t1_0']);
  // Of poison alone nothing is refilled.
  expect(JSON.parse((await matcherOf(1).matcher.handle(batchOf(['unreadable']))).metadata!)).toEqual({
    refill: '1',
    at: 1_000,
  });
});

test('after an assignment there are no recent items and reading starts at the refill offset, never after the committed offset', async () => {
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
