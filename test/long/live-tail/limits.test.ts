import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { ApiProcess } from '../../support/children/api-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { EventStreamClient } from '../../support/clients/event-stream-client.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let apis: [TestApi, TestApi];
let owner: TestAccount;
let path: string;
let monitorId: string;

beforeAll(async () => {
  db = await createTestDatabase();
});

beforeEach(async () => {
  const start = () => startTestApi(db.pool, { liveTail: { timing: { renewMs: 50 } } });
  apis = [await start(), await start()];
  owner = await apis[0].account();
  monitorId = (await apis[0].monitor(owner.apiKey)).id;
  path = `/v1/monitors/${monitorId}/stream`;
});

afterEach(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await db.setShift('0');
});

afterAll(() => db.drop());

/** Connects to both instances in turn, all at once. */
function openMany(count: number): Promise<EventStreamClient[]> {
  return Promise.all(
    Array.from({ length: count }, (_, at) => EventStreamClient.open(apis[at % 2]!.url + path, owner.apiKey)),
  );
}

const closeAll = (clients: readonly EventStreamClient[]) => Promise.all(clients.map((client) => client.close()));
const statuses = (clients: readonly EventStreamClient[]) => clients.map(({ status }) => status).sort();
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

async function places(): Promise<{ place: number; left: number }[]> {
  const { rows } = await db.pool.query<{ place: number; left: number }>(
    `SELECT place, extract(epoch FROM lease_until - service_now())::float AS left FROM live_tails WHERE account_id = $1 ORDER BY place`,
    [owner.accountId],
  );
  return rows;
}

const noPlaceTaken = () => eventually('all slots are free', async () => (await places()).length === 0);

async function openGauge(api: TestApi): Promise<number> {
  return (await api.metrics.liveTails.get()).values[0]?.value ?? 0;
}

test('an account has ten streams over two instances with 40 concurrent connects; closing them leaves nothing', async () => {
  for (let round = 0; round < 3; round++) {
    const clients = await openMany(40);
    expect(statuses(clients)).toEqual([...times(10, 200), ...times(30, 429)]);
    expect((await places()).map(({ place }) => place)).toEqual(Array.from({ length: 10 }, (_, at) => at + 1));
    const stranger = await apis[0].account();
    const { id } = await apis[0].monitor(stranger.apiKey);
    expect((await apis[0].call(stranger.apiKey, 'GET', `/v1/monitors/${id}/stream`)).status).toBe(200);
    await closeAll(clients);
    await noPlaceTaken();
  }
  await eventually('no stream is left', async () => (await openGauge(apis[0])) + (await openGauge(apis[1])) === 0);
});

test('slots of a killed process are free a minute later; those of running processes never', async () => {
  const killed = await ApiProcess.start(db.url);
  const lost = await Promise.all(times(3, 0).map(() => EventStreamClient.open(killed.url + path, owner.apiKey)));
  expect(statuses(lost)).toEqual(times(3, 200));
  const clients = await openMany(7);
  await killed.kill();
  await db.setShift('30 seconds');
  const early = await openMany(1);
  expect(statuses(early)).toEqual([429]);
  await eventually(
    'the running process renews its slots',
    async () => (await places()).filter(({ left }) => left > 50).length === 7,
  );
  await db.setShift('65 seconds');
  const late = await openMany(12);
  expect(statuses(late)).toEqual([...times(3, 200), ...times(9, 429)]);
  await closeAll([...clients, ...late]);
  await noPlaceTaken();
});

test('a stop ends streams at once, also of clients that do not read, and frees their slots', async () => {
  await recordMatches(db.pool, monitorId, 300, 20_000);
  const reading = await EventStreamClient.open(apis[0].url + path, owner.apiKey);
  const stuck = await stuckClient(apis[0], matchId(monitorId, 0));
  expect(await places()).toHaveLength(2);
  await apis[0].stop();
  await reading.closed();
  expect(reading.isComplete).toBe(true);
  expect(await places()).toEqual([]);
  stuck.destroy();
});

/** A client that reads a little and then nothing; resolves when the API can send no more. */
async function stuckClient(api: TestApi, lastEventId: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(api.url).port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.apiKey}\r\nLast-Event-ID: ${lastEventId}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  await connectionFull(api);
  return socket;
}

/** Resolves when the API has sent nothing more for a while. */
async function connectionFull(api: TestApi): Promise<void> {
  const seen: number[] = [];
  await eventually('the connection is full', async () => {
    seen.push(await sentBy(api));
    return seen.at(-1)! > 0 && seen.at(-1) === seen.at(-6);
  });
}

async function sentBy(api: TestApi): Promise<number> {
  return (await api.metrics.liveTailEvents.get()).values[0]?.value ?? 0;
}

test('for a client that stops reading, only what the connection buffers is read from Postgres, and it is disconnected', async () => {
  let read = 0;
  const query = db.pool.query.bind(db.pool) as (...given: unknown[]) => Promise<{ rows: unknown[] }>;
  const counting = Object.assign(Object.create(db.pool) as typeof db.pool, {
    query: async (...given: unknown[]) => {
      const result = await query(...given);
      if (String(given[0]).includes('AS standing')) read += result.rows.length;
      return result;
    },
  });
  const timing = { stallMs: 1_500, pollMs: 20, pageMs: 3_600_000 };
  const api = await startTestApi(counting, { liveTail: { timing } });
  const total = 3_000;
  // 60 MB, far more than the buffers of a connection can take.
  await recordMatches(db.pool, monitorId, total, 10_000);
  const socket = await stuckClient(api, matchId(monitorId, 0));
  await eventually('it is disconnected', async () => (await openGauge(api)) === 0);
  await noPlaceTaken();
  const sent = await sentBy(api);
  expect(sent).toBeLessThan(total / 2);
  expect(read - sent).toBeLessThanOrEqual(50);
  socket.destroy();
  await api.stop();
});
