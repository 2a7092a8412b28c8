import { afterAll, beforeAll, expect, test } from 'vitest';
import { FORUM_COMMENTS, FORUM_POSTS, MONITOR_CANDIDATES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import type { Reply } from '../../support/fixtures/test-api.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';
import { PLAIN_MONITOR } from './plain-monitor.cases.ts';

/** A monitor that uses only the fields of the specification: what clients, consumers and receivers get, to the byte. */
let pipeline: Pipeline;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  pipeline = await Pipeline.create();
  await pipeline.start('matcher', 'recorder', 'deliverer');
});
afterAll(async () => {
  await pipeline.drop();
  await receiver.stop();
});

const RULE = {
  name: 'Plain',
  keywords: ['rust', '"borrow checker"', '咖啡'],
  exclude: ['trust fund'],
  subreddits: ['r/Metals', 'rust'],
  posts: true,
  comments: true,
  nsfw: false,
};

test('answers, rows, messages and webhooks of a plain monitor are the same to the byte', async () => {
  const { apiKey } = await pipeline.api.account();
  const call = (method: string, path: string, body?: unknown) => pipeline.api.call(apiKey, method, path, body);
  const created = await call('POST', '/v1/monitors', { ...RULE, webhook_url: receiver.url });
  const { id } = created.body.monitor as { id: string };
  const path = `/v1/monitors/${id}`;
  const got: Record<string, string> = { created: textOf(created) };
  got.read = textOf(await call('GET', path));
  got.patched = textOf(await call('PATCH', path, { exclude: ['iron man'], comments: true }));
  got.listed = textOf(await call('GET', '/v1/monitors'));
  got.row = await rowsOf('monitors WHERE id = $1', id);
  got.versions = await rowsOf('monitor_versions WHERE monitor_id = $1 ORDER BY version', id);

  await say(FORUM_POSTS.name, forumItemOf('t3_a', { title: 'Rust and the borrow checker', body: '', ...FIXED }), 1);
  await say(FORUM_COMMENTS.name, forumItemOf('t1_b', { body: 'RUST, 黑咖啡。', ...FIXED }), 2);
  await pipeline.db.pool.query('UPDATE monitor_days SET matches = 1000000 WHERE monitor_id = $1', [id]);
  await say(FORUM_COMMENTS.name, forumItemOf('t1_c', { body: 'more rust', ...FIXED }), 3);

  got.matches = await rowsOf('matches WHERE monitor_id = $1 ORDER BY seq', id);
  got.page = textOf(await call('GET', `${path}/matches`));
  got.filtered = textOf(await call('GET', `${path}/matches?keyword=rust&limit=1&order=newest`));
  got.candidates = (await messagesOf(MONITOR_CANDIDATES.name, 3)).join('\n');
  got.messages = (await messagesOf(MONITOR_MATCHES.name, 3)).join('\n');
  got.webhooks = receiver.received.map(({ body }) => body).join('\n');
  const lines = Object.entries(got).map(([part, text]) => [part, normalised(text, id).split('\n')]);
  expect(Object.fromEntries(lines)).toEqual(PLAIN_MONITOR);
});

const FIXED = { subreddit: 'Metals', author: 'smith' };

function textOf({ status, text }: Reply): string {
  return `${status} ${text}`;
}

/** Rows as JSON, without columns that are null. */
async function rowsOf(source: string, id: string): Promise<string> {
  const { rows } = await pipeline.db.pool.query<{ row: object }>(
    `SELECT jsonb_strip_nulls(to_jsonb(found)) AS row FROM (SELECT * FROM ${source}) AS found`,
    [id],
  );
  return rows.map(({ row }) => JSON.stringify(row)).join('\n');
}

/** Publishes an item, and waits until the monitor's match of it is stored, and delivered if it is to be. */
async function say(topic: string, item: { thing_id: string }, matches: number): Promise<void> {
  await pipeline.kafka.publisher.publish(topic, [{ key: item.thing_id, value: JSON.stringify(item) }]);
  await eventually(`${item.thing_id} is matched`, async () => {
    const { rowCount } = await pipeline.db.pool.query(`SELECT FROM matches WHERE delivery_status <> 'pending'`);
    return rowCount === matches;
  });
}

/** The values of a topic, in the order of the things. */
async function messagesOf(topic: string, count: number): Promise<string[]> {
  const { kafka, prefix } = pipeline.kafka;
  const consumer = kafka.client.consumer({ groupId: `${prefix}reader-${topic}` });
  const read: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic: prefix + topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ message }) => {
      const text = message.value!.toString();
      // A matcher that hears of the change after it has matched the first item sends a candidate of each version.
      if (!text.includes('"monitor_version":1')) read.push(text);
      return Promise.resolve();
    },
  });
  await eventually(`the messages of ${topic}`, () => read.length >= count);
  await consumer.disconnect();
  const things = ['t3_a', 't1_b', 't1_c'];
  const order = (text: string) => things.findIndex((thing) => text.includes(`"${thing}"`));
  return read.toSorted((one, other) => order(one) - order(other));
}

/** Without what differs from run to run: ids, times, secrets, addresses and durations. */
function normalised(text: string, id: string): string {
  return text
    .replaceAll(id.slice(4), 'ID')
    .replaceAll(receiver.url, 'URL')
    .replace(/acc_\w+/g, 'ACCOUNT')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, 'TIME')
    .replace(/"sent_at":\d+/g, '"sent_at":SECONDS')
    .replace(/whsec_[\w+/=]+/g, 'SECRET')
    .replace(/\\\\x[0-9a-f]+/g, 'BYTES');
}
