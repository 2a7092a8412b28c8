import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { passDeliveryTime } from '../../support/fixtures/deliveries/delivery-clock.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startScriptedEndpoint } from '../../support/fakes/scripted-endpoint.ts';
import type { ScriptedEndpoint } from '../../support/fakes/scripted-endpoint.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import type { Answer } from './scenarios.cases.ts';

let bench: DeliveryBench;
let api: TestApi;
let owner: TestAccount;
let endpoint: ScriptedEndpoint;
let answer: Answer;
let id: string;
/** Number of matches that the monitor has so far. */
let matches: number;

beforeAll(async () => {
  bench = await DeliveryBench.create();
  api = await startTestApi(bench.db.pool, { allowPrivate: true, lookup: () => Promise.resolve(['127.0.0.1']) });
});
beforeEach(async () => {
  owner = await api.account();
  endpoint = await startScriptedEndpoint(() => answer);
  id = (await api.monitor(owner.apiKey, { webhook_url: `${endpoint.url}/hook` })).id;
  matches = 0;
});
afterEach(async () => {
  await bench.reset();
  await endpoint.stop();
});
afterAll(async () => {
  await api.stop();
  await bench.db.drop();
});

const startDeliverer = (random = () => 0) => bench.startDeliverer({ secretBox: api.secretBox, random });
const owned = (method: string, path = '', body?: object): Promise<Reply> =>
  api.call(owner.apiKey, method, `/v1/monitors/${id}${path}`, body);

/** Adds matches that the endpoint answers with `status`, and waits until they are settled. */
async function settled(count: number, status: Answer): Promise<void> {
  answer = status;
  await addMatches(count);
  await bench.settled(id);
}

async function addMatches(count: number): Promise<void> {
  await bench.db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
       suppressed, first_delivery, delivery_status, next_attempt_at)
     SELECT $1, seq, 't3_' || seq, 'post', wall_now(), wall_now(), service_now(), '{rust}', false, 'pending', 'pending',
       service_now()
     FROM generate_series($2::int + 1, $2::int + $3::int) AS seq`,
    [id, matches, count],
  );
  matches += count;
}

async function health(): Promise<{ failures: number; failing: boolean }> {
  const { rows } = await bench.db.pool.query<{ failures: number }>(
    'SELECT failures FROM monitor_health WHERE monitor_id = $1',
    [id],
  );
  const { monitor } = (await owned('GET')).body as { monitor: { webhook_failing: boolean } };
  return { failures: rows[0]?.failures ?? 0, failing: monitor.webhook_failing };
}

test.each([
  [0, [30, 120, 600, 1_800, 7_200]],
  [1 - 2 ** -53, [33, 132, 660, 1_980, 7_920]],
])('the waits of the retry schedule with %d of the jitter', async (random, waits) => {
  answer = 503;
  await bench.db.freeze();
  await addMatches(1);
  await startDeliverer(() => random);
  await passDeliveryTime(bench.db.pool, () => Promise.resolve());
  const { rows } = await bench.db.pool.query<{ wait: number | null; delivery_status: string }>(
    `SELECT extract(epoch FROM next_attempt_at - started_at - duration_ms * interval '1 millisecond')::float8 AS wait,
       delivery_status
     FROM delivery_attempts WHERE monitor_id = $1 ORDER BY attempt`,
    [id],
  );
  expect(rows.map(({ wait }) => wait)).toEqual([...waits, null]);
  expect(rows.map(({ delivery_status }) => delivery_status)).toEqual([...waits.map(() => 'pending'), 'failed']);
});

test('a claim of due matches does not include waiting ones of the same monitor', async () => {
  await startDeliverer();
  answer = 503;
  await addMatches(1);
  await bench.firstState(id, ({ attempt }) => attempt === 1);
  answer = 204;
  await addMatches(20);
  await eventually('the others are delivered', async () =>
    (await bench.states(id)).slice(1).every(({ delivery_status }) => delivery_status === 'delivered'),
  );
  expect((await bench.states(id))[0]).toMatchObject({ delivery_status: 'pending', attempt: 1, is_leased: false });
  expect(endpoint.received).toHaveLength(21);
});

describe('webhook_failing', () => {
  test('is set with the 50th consecutive failed match, by any number of deliverers, and the monitor continues', async () => {
    await Promise.all([startDeliverer(), startDeliverer()]);
    await settled(49, 404);
    expect(await health()).toEqual({ failures: 49, failing: false });
    await settled(1, 302);
    expect(await health()).toEqual({ failures: 50, failing: true });
    await settled(3, 410);
    expect(endpoint.received).toHaveLength(53);
    const { monitor, stats } = (await owned('GET')).body;
    expect([monitor, stats]).toMatchObject([
      { status: 'active', webhook_failing: true },
      { delivery_failures_24h: 53 },
    ]);
  });

  test('is not affected by failed resends; a delivered resend resets the count', async () => {
    await startDeliverer();
    await settled(49, 404);
    const ids = Array.from({ length: 20 }, (_, at) => matchId(id, at + 1));
    expect((await owned('POST', '/redeliver', { match_ids: ids })).body.queued).toBe(20);
    await bench.settled(id);
    expect(endpoint.received).toHaveLength(69);
    expect(await health()).toEqual({ failures: 49, failing: false });
    answer = 200;
    await owned('POST', '/redeliver', { match_ids: [matchId(id, 1)] });
    await bench.settled(id);
    expect(await health()).toEqual({ failures: 0, failing: false });
  });
});

describe('a webhook that is failing', () => {
  beforeEach(async () => {
    await bench.db.pool.query(
      'INSERT INTO monitor_health (monitor_id, failures, webhook_failing) VALUES ($1, 50, true)',
      [id],
    );
  });

  type Step = [name: string, act: () => Promise<unknown>];
  const still: Step[] = [
    ['a delivered match', async () => (await startDeliverer(), settled(1, 200))],
    ['a test that is answered 500', () => testAnswered(500)],
    ['a test that is redirected', () => testAnswered(307)],
    ['a test without an answer', async () => (await endpoint.stop(), owned('POST', '/test'))],
    ['a new rule', () => owned('PATCH', '', { keywords: ['tin'], exclude: ['can'], nsfw: true })],
    ['the same URL again', () => owned('PATCH', '', { webhook_url: `${endpoint.url}/hook` })],
    ['another kind', () => owned('PATCH', '', { webhook_kind: 'discord' })],
    ['a new secret', () => owned('POST', '/rotate-secret')],
    ['a pause and a resume', async () => (await owned('POST', '/pause'), owned('POST', '/resume'))],
  ];
  test.each(still)('stays failing after %s', async (_, act) => {
    await act();
    expect((await health()).failing).toBe(true);
  });

  const cleared: Step[] = [
    ['a test that is answered 200', () => testAnswered(200)],
    ['another path', () => owned('PATCH', '', { webhook_url: `${endpoint.url}/other` })],
    ['a removal with null', () => owned('PATCH', '', { webhook_url: null })],
  ];
  test.each(cleared)('is cleared after %s, and 50 matches must fail again', async (_, act) => {
    await act();
    expect(await health()).toEqual({ failures: 0, failing: false });
  });

  async function testAnswered(status: number): Promise<void> {
    answer = status;
    const reply = await owned('POST', '/test');
    expect(reply.body.status).toBe(status);
  }
});
