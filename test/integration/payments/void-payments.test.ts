import { afterAll, beforeAll, expect, test } from 'vitest';
import { voidPayments } from '../../../services/biller/void-payments.ts';
import { PACKS_FOR_SALE } from '../../../shared/domain/accounts/packs-for-sale.ts';
import { newPaymentId } from '../../../shared/domain/identifiers.ts';
import { applySession } from '../../../shared/payments/apply-session.ts';
import { checkoutSession } from '../../../shared/payments/stripe-objects.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { findLedgerMismatches } from '../../../shared/stores/ledger/ledger-check.ts';
import { charge } from '../../../shared/stores/ledger/ledger.ts';
import { findPayment, insertPayment } from '../../../shared/stores/payments/payments.ts';
import type { PaymentMode } from '../../../shared/stores/payments/payments.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { sessionOf } from '../../support/samples/stripe-events.ts';

let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

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
  const { signal } = new AbortController();
  const mayContinue = () => Promise.resolve(true);
  return voidPayments({ pool: db.pool, metrics, logger: silentLogger(), signal, mayContinue }, modes);
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
