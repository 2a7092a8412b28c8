import { expect, test } from 'vitest';
import { RecentPosts } from '../../../../services/crawler/recent-posts.ts';
import { UnreadableThings } from '../../../../services/crawler/unreadable-things.ts';
import { PublishRefused } from '../../../../shared/kafka/publish-errors.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import { identifyThing } from '../../../../shared/upstream/thing-letter.ts';
import type { UnreadableThing } from '../../../../shared/upstream/thing-letter.ts';
import { CollectingPublisher, counted } from '../../../support/fixtures/crawler-fixture.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';
import { COMMENT, POST } from '../../../support/samples/forum-things.ts';

const signal = new AbortController().signal;
const odd = (id: string): UnreadableThing => identifyThing({ kind: 't1', data: { ...COMMENT, id, body: 7 } })!;

function fixture() {
  const publisher = new CollectingPublisher();
  const posts = new RecentPosts(10);
  const metrics = createMetrics();
  const time = { now: 1_700_000_000_000 };
  const deps = { publisher, posts, metrics, logger: silentLogger(), clock: () => time.now };
  const unreadable = new UnreadableThings(deps);
  const keep = (things: UnreadableThing[]) => unreadable.keep(things, time.now, 'listings', signal);
  return { publisher, posts, metrics, time, deps, keep };
}

test('a thing is kept once, with what is known of its post, however often it comes', async () => {
  const { publisher, posts, metrics, keep } = fixture();
  posts.remember({ kind: 't3', data: { ...POST, created_utc: 1, score: 1, selftext: '' } });
  await keep([odd('a'), odd('a')]);
  await keep([odd('a'), odd('b')]);
  expect(publisher.letters.map(({ topic, record }) => [topic, record.key])).toEqual([
    ['forum.comments.dead-letter', 't1_a'],
    ['forum.comments.dead-letter', 't1_b'],
  ]);
  expect(publisher.letters[0]!.record.headers).toMatchObject({
    'dead-letter-post': JSON.stringify({ title: POST.title, nsfw: POST.over_18 }),
    'dead-letter-reason': expect.stringMatching(/^data\.body: /) as string,
  });
  expect(await counted(metrics, 'crawler_unreadable_things_total', { outcome: 'kept' })).toBe(2);
  expect(await counted(metrics, 'crawler_unreadable_things_total', { outcome: 'known' })).toBe(2);
});

test('a thing whose letter the broker refused is kept when it comes again', async () => {
  const { deps, publisher, time } = fixture();
  let refusals = 1;
  const publishAll: typeof publisher.publishAll = async (topics) => {
    if (refusals-- > 0) throw new PublishRefused('refused');
    await publisher.publishAll(topics);
  };
  const unreadable = new UnreadableThings({ ...deps, publisher: { publishAll } });
  await expect(unreadable.keep([odd('a')], time.now, 'listings', signal)).rejects.toThrow(PublishRefused);
  await unreadable.keep([odd('a')], time.now, 'listings', signal);
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

test('names are forgotten after ten thousand others', async () => {
  const { publisher, time, keep } = fixture();
  await keep([odd('first')]);
  for (let i = 0; i < 10; i++) {
    time.now += 60_000;
    await keep(Array.from({ length: 1000 }, (_, n) => odd(`n${i}x${n}`)));
  }
  time.now += 60_000;
  await keep([odd('n9x999'), odd('first')]);
  expect(publisher.letters.slice(-1).map(({ record }) => record.key)).toEqual(['t1_first']);
  expect(publisher.letters).toHaveLength(10_002);
});
