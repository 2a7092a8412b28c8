import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { MONITOR_CANDIDATES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

const RECORDER_CHILD = join(import.meta.dirname, '../../support/children/recorder-child.ts');

let pipeline: Pipeline;
let receiver: WebhookReceiver;

beforeEach(async () => {
  pipeline = await Pipeline.create();
  receiver = await startWebhookReceiver();
});
afterEach(async () => {
  await pipeline.drop();
  await receiver.stop();
});

/** Runs a recorder in a separate process that is killed after its commit and before it publishes. */
async function runKilledRecorder(): Promise<void> {
  const { prefix } = pipeline.kafka;
  const options = { brokers: inject('kafkaBrokers'), prefix, postgresUrl: pipeline.db.url, killedAfter: 1 };
  const child = spawn(process.execPath, [RECORDER_CHILD, JSON.stringify(options)], { stdio: 'inherit' });
  const signal = await new Promise((resolve) => child.once('exit', (_code, name) => resolve(name)));
  expect(signal).toBe('SIGKILL');
}

async function publishedMatches(): Promise<number> {
  return pipeline.kafka.kafka.withAdmin(async (admin) => {
    const offsets = await admin.fetchTopicOffsets(pipeline.kafka.prefix + MONITOR_MATCHES.name);
    return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
  });
}

const CHANGES: [
  string,
  (call: (method: string, path: string, body?: unknown) => Promise<unknown>) => Promise<unknown>,
][] = [
  ['paused', (call) => call('POST', '/pause')],
  ['given another rule', (call) => call('PATCH', '', { keywords: ['nothing-like-it'] })],
];

test.each(CHANGES)(
  'a match stored by a recorder that was killed before publishing is published later, though its monitor was %s since',
  async (_name, change) => {
    const { api, kafka, clickhouse } = pipeline;
    const { apiKey } = await api.account();
    const { id } = await api.monitor(apiKey, { keywords: ['rust'], webhook_url: receiver.url });
    const candidate = candidateOf({ monitorId: id, thingId: 't1_abc', terms: ['rust'], body: 'rust, as first seen' });
    await kafka.publisher.publish(MONITOR_CANDIDATES.name, [{ key: id, value: JSON.stringify(candidate) }]);

    await runKilledRecorder();
    const stored = await pipeline.db.pool.query('SELECT seq, thing_id FROM matches WHERE monitor_id = $1', [id]);
    expect(stored.rows).toEqual([{ seq: 1, thing_id: 't1_abc' }]);
    expect(await publishedMatches()).toBe(0);

    await change((method, path, body) => api.call(apiKey, method, `/v1/monitors/${id}${path}`, body));
    await pipeline.start('archiver', 'deliverer', 'recorder');

    const webhook = await eventually('the webhook', () => receiver.received[0]);
    expect(JSON.parse(webhook.body)).toMatchObject({ match: { thing_id: 't1_abc', body: 'rust, as first seen' } });
    const page = await api.call(apiKey, 'GET', `/v1/monitors/${id}/matches`);
    expect(page.body.items).toMatchObject([{ thing_id: 't1_abc', matched_terms: ['rust'] }]);
    const archived = await eventually('the row in ClickHouse', async () => {
      const result = await clickhouse.query({
        query: 'SELECT monitor_id, seq, thing_id FROM matches FINAL',
        format: 'JSONEachRow',
      });
      const rows = await result.json();
      return rows.length > 0 ? rows : undefined;
    });
    expect(archived).toEqual([{ monitor_id: id, seq: 1, thing_id: 't1_abc' }]);
  },
);

test('with thread_once a thread has one match, though the recorder was killed between storing and publishing', async () => {
  const { api, kafka, db } = pipeline;
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey, { keywords: ['rust'] });
  await db.pool.query('UPDATE monitors SET thread_once = true WHERE id = $1', [id]);
  const publish = (...things: string[]) =>
    kafka.publisher.publish(
      MONITOR_CANDIDATES.name,
      things.map((thingId) => ({ key: id, value: JSON.stringify(candidateOf({ monitorId: id, thingId })) })),
    );
  await publish('t1_a', 't1_b');
  await runKilledRecorder();
  expect(await publishedMatches()).toBe(0);

  await publish('t1_c');
  await pipeline.start('recorder');
  await eventually('all are published', async () => (await publishedMatches()) >= 3);
  const page = await api.call(apiKey, 'GET', `/v1/monitors/${id}/matches`);
  expect(page.body.items).toMatchObject([
    { thing_id: 't1_a', suppressed: false },
    { thing_id: 't1_b', suppressed: true, suppressed_reason: 'thread_once' },
    { thing_id: 't1_c', suppressed: true, suppressed_reason: 'thread_once' },
  ]);
});
