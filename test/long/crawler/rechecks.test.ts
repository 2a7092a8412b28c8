import { afterAll, beforeAll, expect, test } from 'vitest';
import { FORUM_COMMENTS } from '../../../schemas/messages/topics.ts';
import { startCrawler } from '../../../services/crawler/start-crawler.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { counted } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const SECRET = 'Regretted words about rust';

let pipeline: Pipeline;
let receiver: WebhookReceiver;
let crawler: Running | undefined;
/** What the forum says about a comment now; undefined leaves it out. */
const texts = new Map<string, string>();

beforeAll(async () => {
  pipeline = await Pipeline.create();
  receiver = await startWebhookReceiver();
  await pipeline.start('archiver', 'deliverer', 'recorder', 'matcher');
});
afterAll(async () => {
  await crawler?.stop();
  await pipeline.drop();
  await receiver.stop();
});

/** A forum that knows the comments of `texts` and no thread. */
function infoAnswer(names: readonly string[]): object {
  const children = names.flatMap((name) => {
    const body = texts.get(name);
    return body === undefined ? [] : [{ kind: 't1', data: { id: name.slice(3), body } }];
  });
  return { kind: 'Listing', data: { after: null, children } };
}

const metrics = createMetrics();

async function startRechecks(): Promise<Running> {
  return startCrawler({
    upstream: {
      get: (_, params) => Promise.resolve(infoAnswer((params.id ?? '').split(','))),
      post: () => Promise.reject(new Error('no call posts')),
      perSecond: () => 100,
      stop: () => Promise.resolve(),
    },
    publisher: pipeline.kafka.publisher,
    pool: pipeline.db.pool,
    archive: { clickhouse: pipeline.clickhouse, ready: Promise.resolve(true) },
    sources: ['threads'],
    // The second age is reached after the removal, however long it takes until all are delivered and archived.
    sweepTimes: { recheckAgesMs: [1_000, 45_000] },
    siteUrl: 'https://forum.example',
    metrics,
    logger: silentLogger(),
    clock: systemClock,
    fatal: pipeline.kafka.fatal,
  });
}

async function archived(): Promise<{ thing_id: string; body: string; author: string }[]> {
  const result = await pipeline.clickhouse.query({
    query: 'SELECT thing_id, body, author FROM items FINAL ORDER BY thing_id',
    format: 'JSONEachRow',
  });
  return result.json();
}

test('after both rechecks nothing shows the text of a removed item any more; a missing one keeps its text', async () => {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['rust'], webhook_url: receiver.url });
  const names = ['t1_gone', 't1_kept', 't1_missing'];
  const items = names.map((name) => forumItemOf(name, { body: `${SECRET} of ${name}`, author: 'regretful' }));
  for (const { thing_id: name, body } of items) if (name !== 't1_missing') texts.set(name, body);
  crawler = await startRechecks();
  await pipeline.kafka.publisher.publish(
    FORUM_COMMENTS.name,
    items.map((item) => ({ key: item.thing_id, value: JSON.stringify(item) })),
  );
  await eventually('all are delivered', () => receiver.received.length === names.length);
  await eventually('all are archived', async () => (await archived()).length === names.length);
  expect(receiver.received.some(({ body }) => body.includes(`${SECRET} of t1_gone`))).toBe(true);
  // The page of matches shows it until the forum removes it.
  const page = async (): Promise<string> => (await pipeline.api.call(apiKey, 'GET', `/v1/monitors/${id}/matches`)).text;
  expect(await page()).toContain(`${SECRET} of t1_gone`);

  texts.set('t1_gone', '[removed]');
  await eventually('the archive is blank', async () => (await archived())[0]?.body === '', 120_000);
  expect(await archived()).toEqual([
    { thing_id: 't1_gone', body: '', author: '[deleted]' },
    { thing_id: 't1_kept', body: `${SECRET} of t1_kept`, author: 'regretful' },
    { thing_id: 't1_missing', body: `${SECRET} of t1_missing`, author: 'regretful' },
  ]);
  // At both ages a matched item is rechecked by itself and among all: each recheck that comes before the removal is
  // stored publishes it.
  const [found, published] = await Promise.all([
    counted(metrics, 'crawler_rechecked_total', { outcome: 'removed' }),
    counted(metrics, 'crawler_tombstones_total'),
  ]);
  expect([1, 2, 3, 4]).toContain(found);
  expect(published).toBe(found);
  const shown = await eventually('the page is blank', async () => {
    const text = await page();
    return !text.includes(`${SECRET} of t1_gone`) && text;
  });
  expect(shown).toContain('t1_gone');
  expect(shown).toContain(`${SECRET} of t1_kept`);
  const view = await pipeline.clickhouse.query({
    query: 'SELECT thing_id, body, removed FROM matches_with_items ORDER BY thing_id',
    format: 'JSONEachRow',
  });
  expect((await view.json<object>())[0]).toEqual({ thing_id: 't1_gone', body: '', removed: 1 });
  // Comment search finds words in this column.
  const words = await pipeline.clickhouse.query({
    query: `SELECT thing_id FROM items FINAL WHERE hasAllTokens(words, ['regretted']) ORDER BY thing_id`,
    format: 'JSONEachRow',
  });
  expect(await words.json()).toEqual([{ thing_id: 't1_kept' }, { thing_id: 't1_missing' }]);
  const before = receiver.received.length;
  const reply = await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/redeliver`, { status: 'delivered' });
  expect(reply.status).toBe(200);
  await eventually('all are delivered again', () => receiver.received.length >= before + names.length);
  const again = receiver.received.slice(before).map(({ body }) => body);
  expect(again.some((body) => body.includes('t1_gone'))).toBe(true);
  expect(again.filter((body) => body.includes(`${SECRET} of t1_gone`))).toEqual([]);
}, 240_000);
