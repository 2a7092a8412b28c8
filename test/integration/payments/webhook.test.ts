import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { voidPayments } from '../../../services/biller/reconciliation.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { applySession } from '../../../shared/billing/apply-event.ts';
import { findLedgerMismatches } from '../../../shared/billing/ledger-check.ts';
import { charge } from '../../../shared/billing/ledger.ts';
import { findPayment, insertPayment } from '../../../shared/billing/payments.ts';
import type { PaymentMode } from '../../../shared/billing/payments.ts';
import { PACKS_FOR_SALE } from '../../../shared/billing/rules/plans.ts';
import { checkoutSession, createStripe } from '../../../shared/billing/stripe.ts';
import { createPool, inTransaction } from '../../../shared/postgres/pool.ts';
import { newPaymentId } from '../../../shared/rules/identifiers.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import {
  chargeOf,
  deliveryOf,
  disputeOf,
  eventOf,
  PAYMENT_SETTINGS,
  sessionOf,
  startPayment,
} from '../../support/samples/stripe-events.ts';
import type { StartedPayment } from '../../support/samples/stripe-events.ts';

const OLD_SECRET = 'whsec_before_the_rotation';
let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  const settings = { ...PAYMENT_SETTINGS, webhookSecrets: [...PAYMENT_SETTINGS.webhookSecrets, OLD_SECRET] };
  api = await startTestApi(db.pool, {
    payments: { settings, stripe: createStripe(settings), clock: systemClock },
  });
});

afterAll(async () => {
  await api.stop();
  const { mismatches } = await findLedgerMismatches(db.pool, '', 1_000);
  await db.drop();
  expect(mismatches).toEqual([]);
});

async function send(delivery: { body: string; headers: Record<string, string> }): Promise<number> {
  const response = await fetch(`${api.url}/stripe/webhook`, { method: 'POST', ...delivery });
  await response.text();
  return response.status;
}

/** Delivers an event of the type about the object; returns the event, for further deliveries. */
async function deliver(type: string, object: object): Promise<object> {
  const event = eventOf(type, object);
  expect(await send(deliveryOf(event))).toBe(200);
  return event;
}

async function buyer(credits = 10): Promise<string> {
  return (await api.account({ credits, pack: 0 })).accountId;
}

const COMPLETED = 'checkout.session.completed';

async function bought(price: number): Promise<{ accountId: string; payment: StartedPayment }> {
  const accountId = await buyer();
  const payment = await startPayment(db.pool, accountId, price);
  await deliver(COMPLETED, sessionOf(payment));
  return { accountId, payment };
}

async function accountRow(accountId: string): Promise<{ balance: number; owed: number; pack: number }> {
  const { rows } = await db.pool.query<{ balance: number; owed: number; pack: number }>(
    'SELECT balance, owed, pack FROM accounts WHERE id = $1',
    [accountId],
  );
  return rows[0]!;
}

const statusOf = async ({ id }: StartedPayment) => (await findPayment(db.pool, id))?.status;

test.each([
  [9, 5_000],
  [29, 20_000],
  [79, 70_000],
])('a paid session of the $%d pack gives %d credits and its limits, once', async (price, credits) => {
  const accountId = await buyer();
  const payment = await startPayment(db.pool, accountId, price);
  const event = await deliver(COMPLETED, sessionOf(payment));
  expect(await accountRow(accountId)).toEqual({ balance: 10 + credits, owed: 0, pack: price });
  // The same event, another event about the same session, and many of both at once.
  const again = () => deliver('checkout.session.async_payment_succeeded', sessionOf(payment));
  await Promise.all([send(deliveryOf(event)), again(), send(deliveryOf(event)), again(), again()]);
  expect(await accountRow(accountId)).toEqual({ balance: 10 + credits, owed: 0, pack: price });
  const { rows } = await db.pool.query('SELECT kind, amount FROM ledger_entries WHERE reference = $1', [payment.id]);
  expect(rows).toEqual([{ kind: 'pack', amount: credits }]);
  expect(await findPayment(db.pool, payment.id)).toMatchObject({ status: 'paid', sessionId: payment.sessionId });
});

test('a payment that takes days is credited when it succeeds, and one that fails is not', async () => {
  const accountId = await buyer();
  const [slow, failing] = [await startPayment(db.pool, accountId, 9), await startPayment(db.pool, accountId, 9)];
  await deliver(COMPLETED, sessionOf(slow, { payment_status: 'unpaid' }));
  await deliver(COMPLETED, sessionOf(failing, { payment_status: 'unpaid' }));
  expect(await accountRow(accountId)).toMatchObject({ balance: 10, pack: 0 });
  await deliver('checkout.session.async_payment_failed', sessionOf(failing, { payment_status: 'unpaid' }));
  await deliver('checkout.session.async_payment_succeeded', sessionOf(slow));
  expect(await accountRow(accountId)).toMatchObject({ balance: 5_010, pack: 9 });
  expect([await statusOf(slow), await statusOf(failing)]).toEqual(['paid', 'failed']);
});

test.each<[string, object]>([
  ['nothing had to be paid', { payment_status: 'no_payment_required', amount_total: 0 }],
  ['it is not paid', { payment_status: 'unpaid' }],
  ['it is for another account', { client_reference_id: 'acc_000000000000' }],
  ['it names no account', { client_reference_id: null }],
  ['less was paid', { amount_subtotal: 100, amount_total: 100 }],
  ['a discount lowered it', { amount_total: 800 }],
  ['the currency is another', { currency: 'jpy' }],
  ['it names no payment', { metadata: {} }],
  ['it names a payment that does not exist', { metadata: { payment_id: 'pay_00000000000000000000' } }],
  ['more than the price was paid without tax', { amount_total: 1_000 }],
  ['it is of the other mode', { livemode: true }],
])('a signed session credits nothing when %s', async (_reason, overrides) => {
  const accountId = await buyer();
  const payment = await startPayment(db.pool, accountId, 9);
  await deliver(COMPLETED, sessionOf(payment, overrides));
  expect(await accountRow(accountId)).toEqual({ balance: 10, owed: 0, pack: 0 });
  expect(await statusOf(payment)).toBe('started');
});

test('tax on top of the price changes no credits', async () => {
  const accountId = await buyer();
  const payment = await startPayment(db.pool, accountId, 9);
  await deliver(COMPLETED, sessionOf(payment, { amount_total: 1_071, automatic_tax: { enabled: true } }));
  expect(await accountRow(accountId)).toMatchObject({ balance: 5_010, pack: 9 });
});

test('a partial refund takes the same share of the credits, by its cumulative amount, and a full one exactly the rest', async () => {
  const { accountId, payment } = await bought(9);
  await deliver('charge.refunded', chargeOf(payment, 100));
  expect(await accountRow(accountId)).toEqual({ balance: 10 + 5_000 - 555, owed: 0, pack: 9 });
  await deliver('charge.refunded', chargeOf(payment, 450));
  // An older sum that arrives late.
  await deliver('charge.refunded', chargeOf(payment, 200));
  expect(await accountRow(accountId)).toEqual({ balance: 2_510, owed: 0, pack: 9 });
  await deliver('charge.refunded', chargeOf(payment, 900));
  await deliver('charge.refunded', chargeOf(payment, 900));
  expect(await accountRow(accountId)).toEqual({ balance: 10, owed: 0, pack: 0 });
});

test('a refund of credits that were spent leaves a debt, never a negative balance', async () => {
  const { accountId, payment } = await bought(9);
  await charge(db.pool, { accountId, kind: 'read', credits: 5_000, reference: 'much' });
  await deliver('charge.refunded', chargeOf(payment, 900));
  expect(await accountRow(accountId)).toEqual({ balance: 0, owed: 4_990, pack: 0 });
});

test('a refund and a dispute that arrive before the purchase take effect with it', async () => {
  const accountId = await buyer();
  const [refunded, disputed] = [await startPayment(db.pool, accountId, 29), await startPayment(db.pool, accountId, 9)];
  await deliver('charge.refunded', chargeOf(refunded, 1_450));
  await deliver('charge.dispute.created', disputeOf(disputed, 'needs_response'));
  expect(await accountRow(accountId)).toEqual({ balance: 10, owed: 0, pack: 0 });
  await deliver(COMPLETED, sessionOf(refunded));
  await deliver(COMPLETED, sessionOf(disputed));
  expect(await accountRow(accountId)).toEqual({ balance: 10_010, owed: 0, pack: 29 });
});

test('a dispute takes everything back, and one that is won returns it once, in any order', async () => {
  const { accountId, payment } = await bought(9);
  await charge(db.pool, { accountId, kind: 'read', credits: 1_010, reference: 'some' });
  await deliver('charge.dispute.created', disputeOf(payment, 'needs_response'));
  expect(await accountRow(accountId)).toEqual({ balance: 0, owed: 1_000, pack: 0 });
  const won = await deliver('charge.dispute.closed', disputeOf(payment, 'won'));
  expect(await accountRow(accountId)).toEqual({ balance: 4_000, owed: 0, pack: 9 });
  await send(deliveryOf(won));
  await deliver('charge.dispute.closed', disputeOf(payment, 'won'));
  await deliver('charge.dispute.created', disputeOf(payment, 'needs_response'));
  expect(await accountRow(accountId)).toEqual({ balance: 4_000, owed: 0, pack: 9 });
  await deliver('charge.dispute.closed', disputeOf(payment, 'lost', 2));
  expect(await accountRow(accountId)).toEqual({ balance: 0, owed: 1_000, pack: 0 });
});

test('what is paid for a deleted account is credited to nobody and stays visible as unclaimed', async () => {
  const { accountId, apiKey, email } = await api.account({ credits: 10, pack: 0 });
  const payment = await startPayment(db.pool, accountId, 9);
  expect((await api.call(apiKey, 'DELETE', '/v1/account', { email })).status).toBe(200);
  await deliver(COMPLETED, sessionOf(payment));
  await deliver('charge.refunded', chargeOf(payment, 900));
  expect(await accountRow(accountId)).toMatchObject({ balance: 10, owed: 0 });
  expect(await statusOf(payment)).toBe('unclaimed');
});

test('events of other types, and of other products of the same provider, are answered and change nothing', async () => {
  await deliver('invoice.paid', { id: 'in_1' });
  await deliver('constructor', {});
  await deliver('charge.refunded', { id: 'ch_1', amount: 5, amount_refunded: 5, payment_intent: null });
});

test('deliveries that are forged, old, changed, unsigned or signed with another secret are refused without a reason', async () => {
  const accountId = await buyer();
  const payment = await startPayment(db.pool, accountId, 9);
  const event = eventOf(COMPLETED, sessionOf(payment));
  const good = deliveryOf(event);
  const refused = [
    deliveryOf(event, { secret: 'whsec_of_somebody_else' }),
    deliveryOf(event, { at: Date.now() - 301_000 }),
    { ...good, body: good.body.replace('900', '901') },
    {
      ...good,
      headers: { ...good.headers, 'stripe-signature': good.headers['stripe-signature']!.replace('v1=', 'v0=') },
    },
    { ...good, headers: { ...good.headers, 'stripe-signature': `t=${Math.floor(Date.now() / 1_000)},v1=` } },
    { ...good, headers: { 'content-type': 'application/json' } },
    { ...good, body: '' },
  ];
  for (const delivery of refused) expect(await send(delivery)).toBe(400);
  const response = await fetch(`${api.url}/stripe/webhook`, { method: 'POST', ...refused[1]! });
  expect(await response.json()).toEqual({
    error: {
      code: 'invalid_request',
      message: 'The delivery is not signed correctly.',
      doc_url: 'http://localhost/docs/reference/errors#invalid_request',
      retryable: false,
    },
  });
  expect(await accountRow(accountId)).toMatchObject({ balance: 10 });
  expect(await send(deliveryOf(event, { secret: OLD_SECRET }))).toBe(200);
  expect(await accountRow(accountId)).toMatchObject({ balance: 5_010 });
});

test('other methods, large and compressed bodies are refused', async () => {
  expect((await fetch(`${api.url}/stripe/webhook`)).status).toBe(405);
  const large = deliveryOf(eventOf('invoice.paid', { text: 'x'.repeat(300_000) }));
  // The server may close the connection before the whole body is sent.
  expect(await send(large).catch(() => 413)).toBe(413);
  const good = deliveryOf(eventOf('invoice.paid', {}));
  expect(await send({ ...good, headers: { ...good.headers, 'content-encoding': 'gzip' } })).toBe(415);
});

test('a delivery without a signature is refused before its body is read', async () => {
  const { port, hostname, host } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.write(`POST /stripe/webhook HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 262144\r\n\r\n{`);
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
  socket.destroy();
});

test('while Postgres is unavailable the answer makes the sender repeat the event', async () => {
  const pool = createPool({ url: 'postgres://127.0.0.1:9/none', name: 'unavailable', logger: silentLogger() });
  const payments = { settings: PAYMENT_SETTINGS, stripe: createStripe(PAYMENT_SETTINGS), clock: systemClock };
  const unavailable = await startTestApi(pool, { payments });
  const delivery = deliveryOf(eventOf(COMPLETED, {}));
  const response = await fetch(`${unavailable.url}/stripe/webhook`, { method: 'POST', ...delivery });
  expect(response.status).toBe(503);
  await unavailable.stop();
  await pool.end();
});

describe('purchases without money', () => {
  async function start(accountId: string, mode: PaymentMode) {
    const id = newPaymentId();
    const pack = PACKS_FOR_SALE[0]!;
    await insertPayment(db.pool, { ...pack, id, accountId, mode });
    return { ...pack, id, accountId, sessionId: `cs_${id}`, paymentIntent: `pi_${id}` };
  }

  async function buy(accountId: string, mode: PaymentMode): Promise<string> {
    const payment = await start(accountId, mode);
    const session = checkoutSession.parse(sessionOf(payment, { livemode: mode === 'live' }));
    const { outcome } = await inTransaction(db.pool, (client) => applySession(client, session, mode));
    expect(outcome).toBe('credited');
    return payment.id;
  }

  function voidAll(modes: readonly ('trial' | 'test')[], metrics = createMetrics()): Promise<void> {
    const mayContinue = () => Promise.resolve(true);
    return voidPayments({ pool: db.pool, metrics, logger: silentLogger(), mayContinue }, modes);
  }

  test('purchases without money are taken back once, by several processes at once; paid ones and spent credits count', async () => {
    const { accountId } = await api.account({ credits: 10, pack: 0 });
    const [trial, test, live] = [
      await buy(accountId, 'trial'),
      await buy(accountId, 'test'),
      await buy(accountId, 'live'),
    ];
    const open = await start(accountId, 'trial');
    await charge(db.pool, { accountId, kind: 'read', credits: 12_000, reference: 'much' });
    const account = () => findAccount(db.pool, accountId);
    expect(await account()).toMatchObject({ balance: 3_010, owed: 0, pack: 9 });
    const metrics = createMetrics();
    await Promise.all([voidAll(['trial'], metrics), voidAll(['trial'], metrics), voidAll(['trial'], metrics)]);
    expect(await account()).toMatchObject({ balance: 0, owed: 1_990, pack: 9 });
    const voided = await metrics.registry.getSingleMetric('payments_voided_total')!.get();
    expect(voided.values[0]!.value).toBe(1);
    const statuses = async () =>
      Promise.all([trial, test, live, open.id].map(async (id) => (await findPayment(db.pool, id))!.status));
    expect(await statuses()).toEqual(['voided', 'paid', 'paid', 'voided']);
    await voidAll([]);
    expect(await statuses()).toEqual(['voided', 'paid', 'paid', 'voided']);
    await voidAll(['trial', 'test']);
    expect(await account()).toMatchObject({ balance: 0, owed: 6_990, pack: 9 });
    // A checkout that was open is paid too late.
    const late = checkoutSession.parse(sessionOf(open));
    const { outcome } = await inTransaction(db.pool, (client) => applySession(client, late, 'trial'));
    expect(outcome).toBe('already_credited');
    expect(await account()).toMatchObject({ balance: 0, owed: 6_990 });
    expect((await findLedgerMismatches(db.pool, '', 100)).mismatches).toEqual([]);
  });
});
