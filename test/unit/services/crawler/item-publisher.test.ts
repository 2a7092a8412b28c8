import { describe, expect, test } from 'vitest';
import type { ForumItem } from '../../../../schemas/messages/forum-item.ts';
import { CommunityCounts } from '../../../../services/crawler/community-counts.ts';
import { ItemPublisher, PostLookup } from '../../../../services/crawler/item-publisher.ts';
import { RecentPosts, SeenItems } from '../../../../services/crawler/seen-items.ts';
import type { LanguageDetector } from '../../../../shared/crawl/load-language-detector.ts';
import { commentData } from '../../../../shared/forum-client/parse-things.ts';
import type { Thing } from '../../../../shared/forum-client/parse-things.ts';
import { PublishRefused } from '../../../../shared/kafka/kafka-unavailable.ts';
import type { TopicRecords } from '../../../../shared/kafka/publisher.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

const signal = new AbortController().signal;
const origin = { label: 'listings', replay: false } as const;

function comment(id: string): Thing {
  const fields = { id, author: 'ann', subreddit: 'rust', body: id, created_utc: 1_700_000_000, score: 1 };
  const place = { parent_id: 't3_p1', link_id: 't3_p1', link_title: 'a title', over_18: false };
  return { kind: 't1', data: commentData.parse({ ...fields, ...place }) };
}

/** A publisher whose sends the test ends. */
function held(detectLanguage: LanguageDetector = () => 'en') {
  const metrics = createMetrics();
  const sends: { names: string[]; languages: unknown[]; acknowledge: () => void; refuse: () => void }[] = [];
  const publisher = {
    publishAll: (topics: readonly TopicRecords[]) =>
      new Promise<void>((resolve, reject) => {
        const names = topics.flatMap(({ records }) => records.map(({ key }) => key));
        const languages = topics.flatMap(({ records }) =>
          records.map(({ value }) => (JSON.parse(value.toString()) as ForumItem).language),
        );
        const refuse = () => {
          reject(new PublishRefused('refused'));
        };
        sends.push({ names, languages, acknowledge: resolve, refuse });
      }),
  };
  const posts = new RecentPosts(10);
  const upstream = { get: () => Promise.reject(new Error('no call is expected')) };
  const items = new ItemPublisher({
    counts: new CommunityCounts(),
    detectLanguage,
    publisher,
    posts,
    lookup: new PostLookup(upstream, posts, silentLogger()),
    seen: new SeenItems(100),
    metrics,
    logger: silentLogger(),
    clock: () => 1_700_000_001_000,
    siteUrl: 'https://forum.example',
  });
  const publishUntil = (stopped: AbortSignal, ...ids: string[]) =>
    items.publish({ ...fetched, things: ids.map(comment) }, origin, stopped);
  const publish = (...ids: string[]) => publishUntil(signal, ...ids);
  return { sends, publish, publishUntil, metrics };
}

const fetched = { seenAt: 1_700_000_001_000, acknowledged: () => undefined };

describe('ItemPublisher with pages that overlap', () => {
  test('publishes shared items once, and acknowledges a page only when the other page has published them', async () => {
    const { sends, publish } = held();
    const first = publish('a', 'b');
    const second = publish('b', 'c');
    expect(sends.map(({ names }) => names)).toEqual([['t1_a', 't1_b'], ['t1_c']]);
    const ended: string[] = [];
    void first.then(() => ended.push('first'));
    void second.then(() => ended.push('second'));
    sends[1]?.acknowledge();
    await new Promise(setImmediate);
    expect(ended).toEqual([]);
    sends[0]?.acknowledge();
    await Promise.all([first, second]);
    await publish('a', 'b', 'c');
    expect(sends).toHaveLength(2);
  });

  test('fails a page whose items another page could not publish, and publishes them when asked again', async () => {
    const { sends, publish } = held();
    const first = publish('a');
    const second = publish('a');
    sends[0]?.refuse();
    await expect(first).rejects.toThrow(PublishRefused);
    await expect(second).rejects.toThrow(PublishRefused);
    const third = publish('a');
    expect(sends[1]?.names).toEqual(['t1_a']);
    sends[1]?.acknowledge();
    await third;
  });
});

test('an item whose language cannot be detected is published like the others, and counted', async () => {
  const { sends, publish, metrics } = held(([body]) => {
    if (body === 'b') throw new Error('broken');
    return 'de';
  });
  const published = publish('a', 'b', 'c');
  sends[0]?.acknowledge();
  await published;
  expect(sends.map(({ names, languages }) => [names, languages])).toEqual([
    [
      ['t1_a', 't1_b', 't1_c'],
      ['de', 'und', 'de'],
    ],
  ]);
  expect((await metrics.crawlerUndetected.get()).values[0]?.value).toBe(1);
});
