import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reconcilePayments } from '../../../services/biller/reconciliation.ts';
import { createStripe } from '../../../shared/billing/stripe.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { findLedgerMismatches } from '../../../shared/billing/ledger-check.ts';
import { charge } from '../../../shared/billing/ledger.ts';
import { storePaymentSession } from '../../../shared/billing/payments.ts';
import type { KilledPaymentsJob } from '../../support/children/payments-killed-at-commit.ts';
import { startListedPayments } from '../../support/fakes/listed-payments.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { paidCredits } from '../../support/oracles/payments-oracle.ts';
import { paymentHistory } from '../../support/samples/payment-histories.ts';
import type { PaymentHistory, SampleEvent } from '../../support/samples/payment-histories.ts';
import { seededRandom } from '../../support/samples/seeded-random.ts';
import { deliveryOf, PAYMENT_SETTINGS, sessionOf, startPayment } from '../../support/samples/stripe-events.ts';

const SEED = Number(process.env.PAYMENTS_SEED ?? 20_260_304);
const ACCOUNTS = 12;
const PAYMENTS = 640;
const FORGED = 700;
const KILLS = 12;
const AT_ONCE = 16;
const LEAST_DELIVERIES = 5_000;
const START_CREDITS = 300;
const CHILD = join(import.meta.dirname, '../../support/children/payments-killed-at-commit.ts');

const random = seededRandom(SEED);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

let db: TestDatabase;
let pools: Pool[];
let apis: TestApi[];
/** Credits that accounts have spent meanwhile. */
const spent = new Map<string, number>();

beforeAll(async () => {
  db = await createTestDatabase();
  const payments = { settings: PAYMENT_SETTINGS, stripe: createStripe(PAYMENT_SETTINGS), clock: systemClock };
  pools = [1, 2].map((number) => createPool({ url: db.url, name: `api-${number}`, logger: silentLogger() }));
  apis = await Promise.all(pools.map((pool) => startTestApi(pool, { payments })));
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await Promise.all(pools.map((pool) => pool.end()));
  await db.drop();
});

/** Something that is done to one of the two API processes. */
interface Delivery {
  body: string;
  headers: Record<string, string>;
  status: 200 | 400;
}

async function send({ body, headers, status }: Delivery): Promise<void> {
  const response = await fetch(`${pick(apis).url}/stripe/webhook`, { method: 'POST', body, headers });
  await response.text();
  expect(response.status).toBe(status);
}

const genuineDelivery = (event: SampleEvent): Delivery => ({ ...deliveryOf(event), status: 200 });

/** An event that would credit a payment, in a delivery that its sender did not sign just now. */
function forgedDelivery({ payment }: PaymentHistory): Delivery {
  const event = { ...pick(eventsOfPaid(payment)), id: `evt_forged_${random()}` };
  const good = deliveryOf(event);
  const forgeries = [
    () => deliveryOf(event, { secret: 'whsec_of_somebody_else' }),
    () => deliveryOf(event, { at: Date.now() - 10 * 60_000 }),
    () => ({ ...good, body: good.body.replace(payment.accountId, pick(accounts).accountId.toUpperCase()) }),
    () => ({ body: good.body, headers: { 'content-type': 'application/json' } }),
    () => ({ ...good, headers: { ...good.headers, 'stripe-signature': `t=${Math.floor(Date.now() / 1_000)},v1=` } }),
  ];
  return { ...pick(forgeries)(), status: 400 };
}

const eventsOfPaid = (payment: PaymentHistory['payment']) => [
  {
    id: '',
    object: 'event',
    type: 'checkout.session.completed',
    livemode: false,
    data: { object: sessionOf(payment) },
  },
];

async function spend(): Promise<void> {
  const { accountId } = pick(accounts);
  const credits = 1 + Math.floor(random() * 9_000);
  const reference = `spent-${random()}`;
  const left = await charge(db.pool, { accountId, kind: 'read', credits, reference });
  if (left !== undefined) spent.set(accountId, (spent.get(accountId) ?? 0) + credits);
}

/** A process applies some events and is killed at the commit of one; nobody learns which were applied. */
async function killDuring(events: SampleEvent[], number: number): Promise<void> {
  const commit = 1 + Math.floor(random() * events.length);
  const moment = number % 2 === 0 ? 'before' : 'after';
  const job: KilledPaymentsJob = { postgresUrl: db.url, events, commit, moment };
  const child = spawn(process.execPath, [CHILD, JSON.stringify(job)], { stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

function shuffle<T>(list: T[]): T[] {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [list[index], list[other]] = [list[other]!, list[index]!];
  }
  return list;
}

const accounts: TestAccount[] = [];

async function expectBalances(histories: readonly PaymentHistory[], isKnown: (id: string) => boolean): Promise<void> {
  for (const { accountId } of accounts) {
    const own = histories.filter(({ payment }) => payment.accountId === accountId);
    const { credits, pack } = paidCredits(own, isKnown);
    const net = START_CREDITS + credits - (spent.get(accountId) ?? 0);
    const account = await findAccount(db.pool, accountId);
    const expected = { balance: Math.max(0, net), owed: Math.max(0, -net), pack };
    expect({ accountId, balance: account!.balance, owed: account!.owed, pack: account!.pack }).toEqual({
      accountId,
      ...expected,
    });
  }
  expect((await findLedgerMismatches(db.pool, '', 1_000)).mismatches).toEqual([]);
}

test(`balances equal what was paid, whatever happens to the events (seed ${SEED})`, async () => {
  for (let number = 0; number < ACCOUNTS; number++) {
    accounts.push(await apis[0]!.account({ credits: START_CREDITS, pack: 0 }));
  }
  const histories: PaymentHistory[] = [];
  for (let number = 0; number < PAYMENTS; number++) {
    const payment = await startPayment(db.pool, pick(accounts).accountId, pick([9, 29, 79]));
    // The process that created the others ended before it stored their sessions.
    if (random() < 0.5) await storePaymentSession(db.pool, payment.id, payment.sessionId);
    const others = accounts.filter(({ accountId }) => accountId !== payment.accountId);
    histories.push(paymentHistory(payment, pick(others).accountId, random));
  }
  const events = histories.flatMap(({ genuine, misfits }) => [...genuine, ...misfits]);
  const lost = new Set(events.filter(() => random() < 0.1).map(({ id }) => id));
  const delivered = events.filter(({ id }) => !lost.has(id));
  const queue: Delivery[] = [];
  for (const event of delivered) {
    for (let times = 1 + Math.floor(random() ** 2 * 5); times > 0; times--) queue.push(genuineDelivery(event));
  }
  for (let number = 0; number < FORGED; number++) queue.push(forgedDelivery(pick(histories)));
  shuffle(queue);
  expect(queue.length).toBeGreaterThanOrEqual(LEAST_DELIVERIES);

  const between = Math.floor(queue.length / KILLS);
  let kills = 0;
  for (let index = 0; index < queue.length; index += AT_ONCE) {
    const tasks = queue.slice(index, index + AT_ONCE).map(send);
    if (random() < 0.5) tasks.push(spend());
    // The killed process works at the same time as the other two. The sender repeats what it got no answer to.
    if (index >= kills * between) {
      const some = Array.from({ length: 6 }, () => pick(delivered));
      tasks.push(killDuring(some, kills++));
      queue.push(...some.map(genuineDelivery));
    }
    await Promise.all(tasks);
  }
  expect(kills).toBeGreaterThanOrEqual(KILLS);
  await expectBalances(histories, (id) => !lost.has(id));

  await reconcile(events);
  await expectBalances(histories, () => true);
  // A second comparison, and late repetitions, change nothing.
  await reconcile(events);
  await Promise.all(Array.from({ length: 50 }, () => send(genuineDelivery(pick(events)))));
  await expectBalances(histories, () => true);
});

/** The comparison with the provider, which lists every event that it ever sent, by two billers at once. */
async function reconcile(events: readonly SampleEvent[]): Promise<void> {
  const yesterday = Math.floor(Date.now() / 1_000) - 24 * 60 * 60;
  const lists = { events: events.map((event) => ({ ...event, created: yesterday })), sessions: [] };
  const provider = await startListedPayments(lists);
  const stripe = createStripe({ secretKey: PAYMENT_SETTINGS.secretKey, apiUrl: provider.url });
  const run = (pool: Pool) =>
    reconcilePayments({
      pool,
      metrics: createMetrics(),
      logger: silentLogger(),
      stripe,
      settings: PAYMENT_SETTINGS,
      clock: systemClock,
      mayContinue: () => Promise.resolve(true),
    });
  expect(await Promise.all(pools.map(run))).toEqual([true, true]);
  await provider.stop();
}
