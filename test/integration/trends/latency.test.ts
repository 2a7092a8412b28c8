import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Latency } from '../../../schemas/api/trends.ts';
import { archiveMatches } from '../../support/fixtures/archived-matches.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const DAY = 86_400_000;
const NOON = (Math.floor(Date.now() / DAY) - 2) * DAY + DAY / 2;

let db: TestDatabase;
let archive: TestArchive;
let api: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  api = await startTestApi(db.pool, { clickhouse: archive.client });
  owner = await api.account({ credits: 1_000, pack: 79 });
});

afterAll(async () => {
  await api.stop();
  await archive.drop();
  await db.drop();
});

async function latency(id: string, query = ''): Promise<Latency['items']> {
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/latency${query}`);
  expect(reply.status).toBe(200);
  return (reply.body as unknown as Latency).items;
}

interface Attempt {
  seq: number;
  attempt: number;
  /** Milliseconds after noon. */
  after: number;
  duration: number;
  status: number;
  delivery: string;
}

async function attempts(monitorId: string, made: readonly Attempt[]): Promise<void> {
  await archive.client.insert({
    table: 'delivery_attempts',
    format: 'JSONEachRow',
    values: made.map(({ seq, attempt, after, duration, status, delivery }) => ({
      monitor_id: monitorId,
      seq,
      match_id: `mat_${seq}`,
      attempt,
      started_at: new Date(NOON + after).toISOString(),
      duration_ms: duration,
      webhook_kind: 'generic',
      host: 'example.com',
      status,
      error: status === 0 ? 'timeout' : '',
      delivery_status: delivery,
    })),
  });
}

test('each step by day, as quantiles', async () => {
  const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
  const slow = Array.from({ length: 10 }, (_, at) => ({
    monitorId: id,
    seq: at + 1,
    count: 1,
    seenAt: NOON,
    lagMs: (at + 1) * 1_000,
    recordedAfterMs: (at + 1) * 100,
  }));
  await archiveMatches(archive.client, [
    ...slow,
    { monitorId: id, seq: 20, count: 1, seenAt: NOON - DAY, lagMs: 7_000, recordedAfterMs: 40 },
    { monitorId: id, seq: 30, count: 5, seenAt: NOON, lagMs: 999_000, recordedAfterMs: 999_000, backfill: true },
  ]);
  await attempts(id, [
    // Recorded at 100 ms; failed once, then delivered, then sent again.
    { seq: 1, attempt: 1, after: 300, duration: 0, status: 0, delivery: 'pending' },
    { seq: 1, attempt: 2, after: 5_000, duration: 150, status: 200, delivery: 'delivered' },
    { seq: 1, attempt: 3, after: 60_000, duration: 50, status: 200, delivery: 'delivered' },
    // Of a backfill.
    { seq: 30, attempt: 1, after: 2_000_000, duration: 250, status: 200, delivery: 'delivered' },
  ]);
  const [newest, before, ...more] = await latency(id);
  expect(more).toEqual([]);
  expect(newest).toEqual({
    day: new Date(NOON).toISOString().slice(0, 10),
    created_to_seen_ms: { count: 10, p50: 6_000, p90: 10_000, p99: 10_000 },
    seen_to_recorded_ms: { count: 10, p50: 600, p90: 1_000, p99: 1_000 },
    recorded_to_delivered_ms: { count: 1, p50: 5_050, p90: 5_050, p99: 5_050 },
    receiver_ms: { count: 3, p50: 150, p90: 250, p99: 250 },
  });
  const one = (ms: number) => ({ count: 1, p50: ms, p90: ms, p99: ms });
  expect(before).toMatchObject({ created_to_seen_ms: one(7_000), seen_to_recorded_ms: one(40), receiver_ms: null });
  expect(await latency(id, '?days=2')).toEqual([]);
  expect(await latency(id, '?days=3')).toHaveLength(1);
});

test('items of dump files say nothing about how fast things are seen', async () => {
  const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
  await archiveMatches(archive.client, [{ monitorId: id, seq: 1, count: 3, seenAt: NOON, lagMs: 3_600_000 }]);
  const thing = (seq: number, source: string) => ({
    thing_id: `t1_${id.slice(4)}${seq}`,
    kind: 'comment',
    source,
    created_utc: new Date(NOON - 3_600_000).toISOString(),
    first_seen_at: new Date(NOON).toISOString(),
    ver: 1,
  });
  await archive.client.insert({
    table: 'items',
    format: 'JSONEachRow',
    values: [thing(1, 'replay'), thing(2, 'replay'), thing(3, 'threads')],
  });
  const [day] = await latency(id);
  expect([day?.created_to_seen_ms?.count, day?.seen_to_recorded_ms?.count]).toEqual([1, 3]);
});

test.each(['?days=0', '?days=31', '?days=x', '?from=2026-03-04T10:00:00Z'])('refuses %s', async (query) => {
  const { id } = await api.monitor(owner.apiKey, {});
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/latency${query}`);
  expect(reply.status).toBe(400);
});

test("other accounts' monitors are not found", async () => {
  const { id } = await api.monitor(owner.apiKey, {});
  const stranger = await api.account({ pack: 79 });
  const reply = await api.call(stranger.apiKey, 'GET', `/v1/monitors/${id}/latency`);
  expect(reply.status).toBe(404);
});
