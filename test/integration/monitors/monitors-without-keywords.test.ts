import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [db, receiver] = await Promise.all([createTestDatabase(), startWebhookReceiver()]);
  api = await startTestApi(db.pool, { allowPrivate: true, lookup: () => Promise.resolve(['127.0.0.1']) });
});
afterAll(async () => {
  await api.stop();
  await receiver.stop();
  await db.drop();
});

test('a monitor of terms alone: pages filter by their texts, and a test delivery names the first', async () => {
  const { apiKey } = await api.account();
  const terms = [
    { text: 'hiring', prefix: true },
    { text: 'IT', case_sensitive: true },
  ];
  const { id } = await api.monitor(apiKey, { keywords: [], terms, webhook_url: receiver.url });
  await recordBatch({ pool: db.pool, toleranceMs: 0 }, [
    candidateOf({ monitorId: id, thingId: 't1_a', terms: ['hiring'] }),
    candidateOf({ monitorId: id, thingId: 't1_b', terms: ['hiring', 'IT'] }),
    candidateOf({ monitorId: id, thingId: 't1_c', terms: ['IT'] }),
  ]);
  const things = async (keyword: string) => {
    const { body } = await api.call(apiKey, 'GET', `/v1/monitors/${id}/matches?keyword=${keyword}`);
    return (body.items as { thing_id: string }[]).map(({ thing_id }) => thing_id);
  };
  expect([await things('hiring'), await things('IT'), await things('it')]).toEqual([
    ['t1_a', 't1_b'],
    ['t1_b', 't1_c'],
    [],
  ]);
  expect((await api.call(apiKey, 'POST', `/v1/monitors/${id}/test`)).body).toMatchObject({ delivered: true });
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ match: { matched_terms: ['hiring'] } });
});
