import { expect, test } from 'vitest';
import { RecentPosts } from '../../../../services/crawler/seen-items.ts';
import { MalformedItems } from '../../../../services/crawler/malformed-items.ts';
import { PublishRefused } from '../../../../shared/kafka/kafka-unavailable.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import { identifyItem } from '../../../../shared/forum-client/malformed-item.ts';
import type { MalformedItem } from '../../../../shared/forum-client/malformed-item.ts';
import { CollectingPublisher, counted } from '../../../support/fixtures/crawler-fixture.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';
import { COMMENT } from '../../../support/samples/forum-things.ts';

const signal = new AbortController().signal;
const odd = (id: string): MalformedItem => identifyItem({ kind: 't1', data: { ...COMMENT, id, body: 7 } })!;

function fixture() {
  const publisher = new CollectingPublisher();
  const posts = new RecentPosts(10);
  const metrics = createMetrics();
  const time = { now: 1_700_000_000_000 };
  const deps = { publisher, posts, metrics, logger: silentLogger(), clock: () => time.now };
  const malformed = new MalformedItems(deps);
  const keep = (things: MalformedItem[]) => malformed.keep(things, time.now, 'listings', signal);
  return { publisher, posts, metrics, time, deps, keep };
}

test('an item whose letter the broker refused is kept when it comes again', async () => {
  const { deps, publisher, time } = fixture();
  let refusals = 1;
  const publishAll: typeof publisher.publishAll = async (topics) => {
    if (refusals-- > 0) throw new PublishRefused('refused');
    await publisher.publishAll(topics);
  };
  const malformed = new MalformedItems({ ...deps, publisher: { publishAll } });
  await expect(malformed.keep([odd('a')], time.now, 'listings', signal)).rejects.toThrow(PublishRefused);
  await malformed.keep([odd('a')], time.now, 'listings', signal);
  expect(publisher.letters).toHaveLength(1);
});

test('no more than a thousand letters a minute are written; the next minute has its own', async () => {
  const { publisher, metrics, time, keep } = fixture();
  const many = (from: number) => Array.from({ length: 700 }, (_, i) => odd(`x${from + i}`));
  await keep(many(0));
  await keep(many(1000));
  expect(publisher.letters).toHaveLength(1000);
  expect(await counted(metrics, 'crawler_unreadable_things_total', { outcome: 'beyond_limit' })).toBe(400);
  time.now += 60_000;
  await keep(many(2000));
  expect(publisher.letters).toHaveLength(1700);
});
