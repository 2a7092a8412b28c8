import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import type { MonitorStatus } from '../../../schemas/api/monitors.ts';
import { MONITOR_CHANGED_CHANNEL } from '../../../schemas/messages/topics.ts';
import { runRenewalPass } from '../../../services/biller/renewal-pass.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { freezeAccount } from '../../../shared/accounts/close-account.ts';
import { credit } from '../../../shared/billing/ledger.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { MONITOR_EVENTS, MONITOR_STATES } from './states.cases.ts';
import type { MonitorEvent } from './states.cases.ts';

let db: TestDatabase;
let api: TestApi;
let listener: pg.Client;
const heard: string[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  listener = new pg.Client({ connectionString: db.url });
  await listener.connect();
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await listener.query(`LISTEN ${MONITOR_CHANGED_CHANNEL}`);
});
// Rounded to the millisecond, so that times can be compared.
beforeEach(() => db.freeze());
afterEach(() => db.pool.query('UPDATE service_clock SET frozen_at = NULL'));
afterAll(async () => {
  await listener.end();
  await api.stop();
  await db.drop();
});

interface Subject {
  account: TestAccount;
  id: string;
}

/** A monitor that reached a state in the normal way, in an account with that many credits. */
async function monitorIn(state: MonitorStatus, credits: number): Promise<Subject> {
  const account = await api.account({ credits: 10, pack: 9 });
  const { id } = await api.monitor(account.apiKey, { name: 'metals', webhook_url: 'https://hooks.example.com/x' });
  if (state === 'paused') await api.call(account.apiKey, 'POST', `/v1/monitors/${id}/pause`);
  if (state === 'deleted') await api.call(account.apiKey, 'DELETE', `/v1/monitors/${id}`);
  if (state === 'paused_balance') {
    await db.freeze('24 hours');
    await renew();
  }
  const { accountId } = account;
  if (credits > 0) await credit(db.pool, { accountId, kind: 'grant', credits, reference: 'for this test' });
  return { account, id };
}

async function renew(): Promise<void> {
  await runRenewalPass({
    pool: db.pool,
    metrics: createMetrics(),
    logger: silentLogger(),
    signal: new AbortController().signal,
  });
}

interface Row {
  status: MonitorStatus;
  active_since: Date;
  next_charge_at: Date;
  updated_at: Date;
  version: number;
  balance: number;
  /** service_now() and wall_now(). */
  now: Date;
  wall: Date;
}

async function rowOf({ id }: Subject): Promise<Row> {
  const { rows } = await db.pool.query<Row>(
    `SELECT m.status, m.active_since, m.next_charge_at, m.updated_at, m.version, a.balance::int AS balance,
       service_now() AS now, wall_now() AS wall
     FROM monitors m JOIN accounts a ON a.id = m.account_id WHERE m.id = $1`,
    [id],
  );
  return rows[0]!;
}

async function happen(does: MonitorEvent['does'], { account, id }: Subject): Promise<Reply | undefined> {
  if (does === 'list') return api.call(account.apiKey, 'GET', '/v1/monitors');
  if (typeof does === 'object') {
    return api.call(account.apiKey, does.method, `/v1/monitors/${id}${does.path ?? ''}`, does.body);
  }
  if (does === 'renewal') await renew();
  else if (does === 'freeze of the account') await freezeAccount(db.pool, account.accountId);
  else await api.call(account.apiKey, 'DELETE', '/v1/account', { email: account.email });
  return undefined;
}

/** How often a monitor was announced since the last call. */
async function announced({ id }: Subject): Promise<number> {
  const end = `end ${Math.random()}`;
  await db.pool.query('SELECT pg_notify($1, $2)', [MONITOR_CHANGED_CHANNEL, end]);
  await eventually('what was announced is heard', () => heard.includes(end));
  return heard.splice(0).filter((payload) => payload === id).length;
}

/** Whether an item that enters now becomes a match. */
async function takesAnItem(subject: Subject): Promise<boolean> {
  const { version } = await rowOf(subject);
  const candidate = candidateOf({ monitorId: subject.id, thingId: 't3_entersnow', version });
  const { outcomes } = await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidate]);
  expect(Object.keys(outcomes)).toHaveLength(1);
  return outcomes.recorded === 1;
}

describe.each(MONITOR_STATES)('%s:', (state) => {
  test.each(MONITOR_EVENTS)('$name', async ({ does, credits = 1_000, after = '1 hour', in: outcomes }) => {
    const expected = outcomes[state];
    const subject = await monitorIn(state, credits);
    await db.freeze(after);
    const before = await rowOf(subject);
    expect([before.status, before.balance]).toEqual([state, credits]);
    await announced(subject);

    const reply = await happen(does, subject);

    expect(reply?.status).toBe(expected.status);
    if (expected.body) expect(reply?.body).toMatchObject(expected.body);
    if (expected.error !== undefined) expect(errorEnvelope.parse(reply?.body).error.code).toBe(expected.error);
    const now = await rowOf(subject);
    const next = expected.becomes ?? state;
    expect([now.status, before.balance - now.balance]).toEqual([next, expected.cost ?? 0]);
    expect(await announced(subject)).toBe(expected.announced ? 1 : 0);
    const moved = (['active_since', 'next_charge_at', 'updated_at'] as const).filter(
      (time) => now[time].getTime() !== before[time].getTime(),
    );
    expect(moved).toEqual(expected.moves ?? []);
    if (moved.includes('updated_at')) expect(now.updated_at).toEqual(now.now);
    if (moved.includes('next_charge_at')) {
      const [ahead, from] = [now.next_charge_at.getTime() - now.now.getTime(), before.next_charge_at.getTime()];
      expect(ahead).toBeGreaterThan(0);
      expect(ahead).toBeLessThanOrEqual(86_400_000);
      // A renewal keeps the time of day; a resume starts 24 hours.
      if (does === 'renewal') expect((now.next_charge_at.getTime() - from) % 86_400_000).toBe(0);
      else expect(ahead).toBe(86_400_000);
    }
    if (moved.includes('active_since')) {
      // Real time, not the service's clock.
      expect(now.active_since.getTime()).toBeGreaterThanOrEqual(before.wall.getTime());
      expect(now.active_since.getTime()).toBeLessThanOrEqual(now.wall.getTime());
    }
    expect(await takesAnItem(subject)).toBe(next === 'active');
  });
});

describe('(none):', () => {
  test.each([
    [0, 1],
    [9, 10],
  ] as const)('a $%d account may have %d monitors; stopped ones count, deleted ones do not', async (pack, limit) => {
    const account = await api.account({ credits: 10 * limit + 20, pack });
    const create = (body: object = { name: 'metals', keywords: ['rust'] }) =>
      api.call(account.apiKey, 'POST', '/v1/monitors', body);
    const codeOf = (reply: Reply) => [reply.status, (reply.body.error as { code: string } | undefined)?.code];
    const ids: string[] = [];
    for (let count = 0; count < limit; count++) {
      const reply = await create();
      expect(reply.status).toBe(201);
      ids.push((reply.body.monitor as { id: string }).id);
    }
    await api.call(account.apiKey, 'POST', `/v1/monitors/${ids[0]!}/pause`);
    await db.pool.query(`UPDATE monitors SET status = 'paused_balance' WHERE id = $1`, [ids.at(-1)]);
    // The limit is checked before the balance, and the request before both.
    expect(codeOf(await create())).toEqual([402, 'monitor_limit_reached']);
    await db.pool.query('UPDATE accounts SET balance = 9 WHERE id = $1', [account.accountId]);
    expect(codeOf(await create())).toEqual([402, 'monitor_limit_reached']);
    expect(codeOf(await create({ name: 'metals' }))).toEqual([400, 'invalid_request']);
    await api.call(account.apiKey, 'DELETE', `/v1/monitors/${ids[0]!}`);
    expect(codeOf(await create())).toEqual([402, 'insufficient_credits']);
    await db.pool.query('UPDATE accounts SET balance = 10 WHERE id = $1', [account.accountId]);
    expect(codeOf(await create())).toEqual([201, undefined]);
    const { body } = await api.call(account.apiKey, 'GET', '/v1/monitors');
    expect([body.used, body.limit, body.daily_match_cap]).toEqual([limit, limit, pack === 0 ? 200 : 1_000]);
    expect(codeOf(await create())).toEqual([402, 'monitor_limit_reached']);
  });
});
