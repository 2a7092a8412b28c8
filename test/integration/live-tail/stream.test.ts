import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { monitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { freezeAccount } from '../../../shared/accounts/close-account.ts';
import { blankMatchedItems } from '../../../shared/crawl/crawl-cursors.ts';
import { EventStreamClient } from '../../support/clients/event-stream-client.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
const open: EventStreamClient[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { liveTail: { timing: { pollMs: 50, heartbeatMs: 120 } } });
  owner = await api.account();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

const pathOf = (id: string, query = '') => `/v1/monitors/${id}/stream${query}`;

async function tail(id: string, query = '', headers = {}, key = owner.apiKey): Promise<EventStreamClient> {
  const client = await EventStreamClient.open(api.url + pathOf(id, query), key, headers);
  open.push(client);
  return client;
}

async function newMonitor(matches = 0): Promise<string> {
  const { id } = await api.monitor(owner.apiKey);
  if (matches > 0) await recordMatches(db.pool, id, matches);
  return id;
}

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, at) => from + at);

test('the answer has its headers, the reconnect delay, and each match as match pages have it', async () => {
  const id = await newMonitor();
  const client = await tail(id);
  expect(client.status).toBe(200);
  expect(client.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-request-id': expect.any(String) as string,
  });
  expect(client.headers['x-credits-used']).toBeUndefined();
  await recordMatches(db.pool, id, 2);
  await client.until(2);
  expect(client.parser.retry).toBe(3_000);
  const { items } = (await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches`)).body as { items: unknown[] };
  expect(client.events.map(({ data }) => monitorMatch.parse(JSON.parse(data)))).toEqual(items);
  expect(client.events.map(({ id: of, type }) => [of, type])).toEqual([
    [matchId(id, 1), 'match'],
    [matchId(id, 2), 'match'],
  ]);
});

describe('the start of a stream', () => {
  test('without a cursor: what is recorded after the answer', async () => {
    const id = await newMonitor(3);
    const client = await tail(id);
    await recordMatches(db.pool, id, 2);
    await client.until(2);
    expect(client.seqs).toEqual([4, 5]);
  });

  test('after the match named by `after` or `Last-Event-ID`; the header wins', async () => {
    const id = await newMonitor(120);
    const byQuery = await tail(id, `?after=${matchId(id, 3)}`);
    const byHeader = await tail(id, '', { 'last-event-id': matchId(id, 0) });
    const byBoth = await tail(id, '?after=nonsense', { 'last-event-id': matchId(id, 118) });
    const withEmptyHeader = await tail(id, `?after=${matchId(id, 119)}`, { 'last-event-id': '' });
    await Promise.all([byQuery.until(117), byHeader.until(120), byBoth.until(2), withEmptyHeader.until(1)]);
    expect(byQuery.seqs).toEqual(upTo(117, 4));
    expect(byHeader.seqs).toEqual(upTo(120));
    expect(byBoth.seqs).toEqual([119, 120]);
    expect(withEmptyHeader.seqs).toEqual([120]);
  });

  test('after a match older than the retention: the oldest match kept', async () => {
    const id = await newMonitor(6);
    await db.pool.query('DELETE FROM matches WHERE monitor_id = $1 AND seq <= 3', [id]);
    const client = await tail(id, `?after=${matchId(id, 1)}`);
    await client.until(3);
    expect(client.seqs).toEqual([4, 5, 6]);
  });

  test('refuses a cursor that is not a match of this monitor with 400 and its name', async () => {
    const id = await newMonitor(2);
    const other = await newMonitor(2);
    for (const given of ['nonsense', `${matchId(id, 1)},${matchId(id, 2)}`, matchId(other, 1), matchId(id, 3)]) {
      const header = await api.call(owner.apiKey, 'GET', pathOf(id), undefined, { 'last-event-id': given });
      expect([header.status, header.text]).toEqual([400, expect.stringContaining('"Last-Event-ID: ')]);
      const query = await api.call(owner.apiKey, 'GET', pathOf(id, `?after=${given}`));
      expect([query.status, query.text]).toEqual([400, expect.stringContaining('"after: ')]);
    }
  });
});

test('every match is sent once and in order while matches arrive in bursts and the client reconnects at any point', async () => {
  const id = await newMonitor(1);
  const total = 1_500;
  const writing = (async () => {
    for (let recorded = 1; recorded < total;) {
      const burst = Math.min(total - recorded, 1 + ((recorded * 7) % 90));
      await recordMatches(db.pool, id, burst);
      recorded += burst;
    }
  })();
  const seen: number[] = [];
  let last = matchId(id, 0);
  for (let turn = 1; seen.length < total; turn++) {
    const client = await tail(id, '', { 'last-event-id': last });
    await client.until(Math.min(1 + ((turn * 37) % 130), total - seen.length));
    await client.close();
    seen.push(...client.seqs);
    last = client.events.at(-1)!.id;
  }
  await writing;
  expect(seen).toEqual(upTo(total));
});

test('a stream that resumes before a match whose item was removed shows it without text and author', async () => {
  const id = await newMonitor(3);
  const things = await db.pool.query<{ thing_id: string }>(
    'SELECT thing_id FROM matches WHERE monitor_id = $1 AND seq = 2',
    [id],
  );
  await blankMatchedItems(db.pool, [things.rows[0]!.thing_id]);
  const client = await tail(id, `?after=${matchId(id, 1)}`);
  await client.until(2);
  const [removed, kept] = client.events.map(({ data }) => monitorMatch.parse(JSON.parse(data)));
  expect([removed, kept]).toMatchObject([
    { author: '[deleted]', body: '', title: '' },
    { author: 'ada', body: expect.stringContaining('é') as string },
  ]);
  expect(client.events[0]!.data).not.toMatch(/\bada\b|é|A title/u);
});

describe('a stream ends for good', () => {
  const ended = async (client: EventStreamClient) => {
    await client.closed();
    return client.events.at(-1);
  };
  const endOf = (reason: string) => ({ type: 'end', data: JSON.stringify({ reason }) });

  test('when its monitor is deleted, which is then unknown', async () => {
    const id = await newMonitor(1);
    const client = await tail(id, `?after=${matchId(id, 0)}`);
    await client.until(1);
    await api.call(owner.apiKey, 'DELETE', `/v1/monitors/${id}`);
    expect(await ended(client)).toMatchObject(endOf('monitor_deleted'));
    expect(client.seqs).toEqual([1]);
    expect((await api.call(owner.apiKey, 'GET', pathOf(id))).status).toBe(404);
  });

  test('when its key is revoked: no further match, on any instance', async () => {
    const { apiKey } = await api.account();
    const { id } = await api.monitor(apiKey);
    const made = await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'another' });
    const other = made.body.api_key as string;
    const far = await startTestApi(db.pool, { liveTail: { timing: { pollMs: 50 } } });
    const clients = [await tail(id, '', {}, other), await EventStreamClient.open(far.url + pathOf(id), other)];
    const staying = await tail(id, '', {}, apiKey);
    expect((await api.call(apiKey, 'DELETE', `/v1/account/keys/${other.slice(3, 11)}`)).status).toBe(200);
    await recordMatches(db.pool, id, 3);
    for (const client of clients) {
      expect(await ended(client)).toMatchObject(endOf('key_revoked'));
      expect(client.seqs).toEqual([]);
    }
    await staying.until(3);
    await far.stop();
  });

  test('when its account is frozen, and when it is deleted', async () => {
    const frozen = await api.account();
    const cold = await tail((await api.monitor(frozen.apiKey)).id, '', {}, frozen.apiKey);
    await freezeAccount(db.pool, frozen.accountId);
    expect(await ended(cold)).toMatchObject(endOf('account_frozen'));
    const deleted = await api.account();
    const gone = await tail((await api.monitor(deleted.apiKey)).id, '', {}, deleted.apiKey);
    await api.call(deleted.apiKey, 'DELETE', '/v1/account', { email: deleted.email });
    expect(await ended(gone)).toMatchObject(endOf('account_deleted'));
  });

  test('but not when its monitor is paused', async () => {
    const id = await newMonitor();
    const client = await tail(id);
    await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/pause`);
    await recordMatches(db.pool, id, 1);
    await client.until(1);
  });
});

test('a stream is free, even without credits, and counts as one request', async () => {
  const poor = await api.account({ credits: 10 });
  const { id } = await api.monitor(poor.apiKey);
  const reply = await api.call(poor.apiKey, 'GET', pathOf(id));
  expect([reply.status, reply.headers.get('x-credits-remaining')]).toEqual([200, '0']);
  const planned = await startTestApi(db.pool, { limits: 'plans' });
  const free = await api.account({ pack: 0 });
  const { id: watched } = await api.monitor(free.apiKey);
  await db.freeze();
  const first = await planned.call(free.apiKey, 'GET', pathOf(watched));
  const second = await planned.call(free.apiKey, 'GET', pathOf(watched));
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  expect([first.status, second.status]).toEqual([200, 429]);
  expect(first.headers.get('ratelimit')).toContain('"day";r=99');
  await planned.stop();
});
