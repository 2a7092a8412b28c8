import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReconciliation, reconcilePayments } from '../../../services/biller/reconciliation.ts';
import { packForSale } from '../../../shared/billing/rules/plans.ts';
import { startCheckout } from '../../../shared/billing/start-checkout.ts';
import type { StartedCheckout } from '../../../shared/billing/start-checkout.ts';
import { createStripe } from '../../../shared/billing/stripe.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { findPayment } from '../../../shared/billing/payments.ts';
import { startPayments } from '../../support/fakes/running-payments.ts';
import type { RunningPayments } from '../../support/fakes/running-payments.ts';
import { counted } from '../../support/fixtures/crawler-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const SHOP = 'http://localhost:8080/dashboard/billing';

let db: TestDatabase;
let api: TestApi;
/** Delivers to the API. */
let simulator: RunningPayments;
/** Delivers to nobody: every webhook is lost. */
let mute: RunningPayments;

beforeAll(async () => {
  db = await createTestDatabase();
  const port = await freePort();
  simulator = await startPayments(`http://127.0.0.1:${port}/stripe/webhook`);
  mute = await startPayments();
  api = await startTestApi(db.pool, { port, payments: simulator.payments });
});
afterAll(async () => {
  await Promise.all([simulator.stop(), mute.stop(), api.stop()]);
  await db.drop();
});

function buy(at: RunningPayments, { accountId, email }: TestAccount, price = '29'): Promise<StartedCheckout> {
  const returnUrls = (id: string) => ({ bought: `${SHOP}?bought=${id}`, cancelled: `${SHOP}?cancelled=1` });
  const account = { id: accountId, email };
  return startCheckout({ pool: db.pool, ...at.payments }, { account, pack: packForSale(price)!, returnUrls });
}

const accountOf = async ({ accountId }: TestAccount) => (await findAccount(db.pool, accountId))!;

test('a pack is bought and refunded on the trial page, through the same signed events', async () => {
  const account = await api.account({ credits: 10, pack: 0 });
  const checkout = await buy(simulator, account);
  expect(await findPayment(db.pool, checkout.paymentId)).toMatchObject({ status: 'started', mode: 'trial' });
  const page = await (await fetch(checkout.url)).text();
  expect(page).toContain('Trial without money');
  expect(page).toContain(`For ${account.email}.`);
  expect(await simulator.press(checkout, 'cancel')).toBe(`${SHOP}?cancelled=1`);
  expect(await accountOf(account)).toMatchObject({ balance: 10, pack: 0 });
  expect(await simulator.press(checkout, 'pay')).toBe(`${SHOP}?bought=${checkout.paymentId}`);
  await eventually('the credits', async () => (await accountOf(account)).balance === 20_010);
  expect(await accountOf(account)).toMatchObject({ pack: 29 });
  await simulator.press(checkout, 'pay');
  await simulator.press(checkout, 'refund');
  await eventually('the refund', async () => (await accountOf(account)).balance === 10);
  expect(await accountOf(account)).toMatchObject({ pack: 0, owed: 0 });
});

test('a price that differs from the table of packs is refused before anybody pays it', async () => {
  const account = await api.account({ credits: 0, pack: 0 });
  const pack = { ...packForSale('9')!, amount: 1_000 };
  const stripe = createStripe(simulator.payments.settings);
  const create = stripe.checkout.sessions.create.bind(stripe.checkout.sessions);
  stripe.checkout.sessions.create = async (...parameters: Parameters<typeof create>) => {
    const session = await create(...parameters);
    return { ...session, amount_subtotal: 1 };
  };
  const deps = { pool: db.pool, settings: simulator.payments.settings, stripe };
  const wanted = {
    account: { id: account.accountId, email: account.email },
    pack,
    returnUrls: () => ({ bought: SHOP, cancelled: SHOP }),
  };
  await expect(startCheckout(deps, wanted)).rejects.toThrow('costs 1 usd instead of 1000 usd');
});

const mayContinue = () => Promise.resolve(true);

test('lost webhooks of purchases and refunds are healed from the lists of the last three days, once', async () => {
  const bought = await api.account({ credits: 10, pack: 0 });
  const refunded = await api.account({ credits: 10, pack: 0 });
  const open = await api.account({ credits: 10, pack: 0 });
  await mute.press(await buy(mute, bought, '9'), 'pay');
  const returned = await buy(mute, refunded, '79');
  await mute.press(returned, 'pay');
  await mute.press(returned, 'refund');
  await buy(mute, open);
  const metrics = createMetrics();
  // Events that are younger than ten minutes may be under way.
  const clock = () => Date.now() + 11 * 60_000;
  const deps = { pool: db.pool, metrics, logger: silentLogger(), mayContinue, ...mute.payments, clock };
  expect(await reconcilePayments(deps)).toBe(true);
  expect(await accountOf(bought)).toMatchObject({ balance: 5_010, pack: 9 });
  expect(await accountOf(refunded)).toMatchObject({ balance: 10, owed: 0, pack: 0 });
  expect(await accountOf(open)).toMatchObject({ balance: 10, pack: 0 });
  const healed = async () => (await metrics.registry.getSingleMetric('payments_healed_total')!.get()).values[0]!.value;
  const count = await healed();
  expect(count).toBeGreaterThanOrEqual(2);
  expect(await counted(metrics, 'payment_events_total')).toBeGreaterThanOrEqual(2);
  expect(await reconcilePayments(deps)).toBe(true);
  expect(await healed()).toBe(count);
  expect(await accountOf(bought)).toMatchObject({ balance: 5_010, pack: 9 });
});

test('while the provider is unavailable the comparison is repeated, with one line in the log, and never ends the process', async () => {
  const lines: { level: number; msg: string }[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
  let apiUrl = 'http://127.0.0.1:9';
  const unavailable = createStripe({ ...mute.payments.settings, apiUrl });
  const deps = {
    pool: db.pool,
    metrics: createMetrics(),
    logger,
    settings: mute.payments.settings,
    clock: systemClock,
    get stripe() {
      return apiUrl === mute.url ? mute.payments.stripe : unavailable;
    },
  };
  const reconcile = createReconciliation(deps);
  const run = () => reconcile(mayContinue);
  expect([await run(), await run()]).toEqual([60_000, 60_000]);
  expect(lines.map(({ level }) => level)).toEqual([40]);
  apiUrl = mute.url;
  expect(await run()).toBe(3_600_000);
  expect(lines.at(-1)?.msg).toBe('payments are compared with the provider again');
});
