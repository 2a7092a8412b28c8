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

test('a match stored by a recorder that was killed before publishing is published once, though its monitor was changed and paused since', async () => {
  const { api, kafka, clickhouse } = pipeline;
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey, { keywords: ['rust'], webhook_url: receiver.url });
  const candidate = candidateOf({ monitorId: id, thingId: 't1_abc', terms: ['rust'], body: 'rust, as first seen' });
  await kafka.publisher.publish(MONITOR_CANDIDATES.name, [{ key: id, value: JSON.stringify(candidate) }]);

  await Promise.all([runKilledRecorder(), pipeline.start('archiver', 'deliverer')]);
  const stored = await pipeline.db.pool.query('SELECT seq, thing_id FROM matches WHERE monitor_id = $1', [id]);
  expect(stored.rows).toEqual([{ seq: 1, thing_id: 't1_abc' }]);
  expect(await publishedMatches()).toBe(0);

  await api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, { keywords: ['nothing-like-it'] });
  await api.call(apiKey, 'POST', `/v1/monitors/${id}/pause`);
  await pipeline.start('recorder');

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
  expect(await publishedMatches()).toBe(1);
  expect(receiver.received).toHaveLength(1);
});
