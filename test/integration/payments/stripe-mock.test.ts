import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reconcilePayments } from '../../../services/biller/reconciliation.ts';
import { PACKS_FOR_SALE } from '../../../shared/billing/rules/plans.ts';
import { startCheckout } from '../../../shared/billing/start-checkout.ts';
import { createStripe } from '../../../shared/billing/stripe.ts';
import type { PaymentSettings } from '../../../shared/billing/stripe.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { PAYMENT_SETTINGS } from '../../support/samples/stripe-events.ts';

/**
 * Stripe's own mock checks requests against the description of its API and answers with fixed examples. It is not on
 * npm: scripts/check-stripe-requests.sh builds it and runs this file.
 */
const IS_MISSING = spawnSync('stripe-mock', ['-version']).error !== undefined;
/** The mock takes keys of letters and digits only. */
const SETTINGS = { ...PAYMENT_SETTINGS, secretKey: 'sk_test_123' };
const REASON = IS_MISSING ? ': skipped, because stripe-mock is not on the PATH' : '';

describe.skipIf(IS_MISSING)(`stripe-mock${REASON}`, () => {
  let db: TestDatabase;
  let api: TestApi;
  let mock: ChildProcess;
  let apiUrl: string;

  beforeAll(async () => {
    db = await createTestDatabase();
    api = await startTestApi(db.pool);
    const port = await freePort();
    apiUrl = `http://127.0.0.1:${port}`;
    mock = spawn('stripe-mock', ['-http-port', String(port)], { stdio: 'ignore' });
    await eventually('stripe-mock answers', async () => (await fetch(apiUrl)).status > 0);
  });
  afterAll(async () => {
    mock.kill();
    await api.stop();
    await db.drop();
  });

  test.each<[string, Partial<PaymentSettings>]>([
    ['the amounts of the table', {}],
    ['prices in Stripe', { prices: { 9: 'price_1', 29: 'price_2', 79: 'price_3' } }],
    ['automatic tax', { automaticTax: true }],
  ])('accepts the requests for a checkout with %s', async (_name, change) => {
    const { accountId, email } = await api.account({ credits: 0, pack: 0 });
    const settings = { ...SETTINGS, ...change };
    const stripe = createStripe({ ...settings, apiUrl });
    const returnUrls = () => ({ bought: 'https://shop.example/a', cancelled: 'https://shop.example/b' });
    for (const pack of PACKS_FOR_SALE) {
      const wanted = { account: { id: accountId, email }, pack, returnUrls };
      // The request passed: the example in the answer has another price, and is refused here for that alone.
      await expect(startCheckout({ pool: db.pool, stripe, settings }, wanted)).rejects.toThrow(
        `the checkout of pack ${pack.pack} asks for`,
      );
    }
    // The mock does refuse what the API does not know.
    const unknown = { mode: 'payment', success_url: 'https://shop.example', no_such_parameter: '1' } as const;
    await expect(stripe.checkout.sessions.create(unknown)).rejects.toMatchObject({ statusCode: 400 });
  });

  test('accepts the lists of the reconciliation, and its examples of events and sessions can be read', async () => {
    const lines: string[] = [];
    const logger = createLogger('error', { write: (line) => void lines.push(line) });
    const stripe = createStripe({ ...SETTINGS, apiUrl });
    const mayContinue = () => Promise.resolve(true);
    const deps = { pool: db.pool, metrics: createMetrics(), logger, stripe, settings: SETTINGS };
    expect(await reconcilePayments({ ...deps, clock: systemClock, mayContinue })).toBe(true);
    expect(lines).toEqual([]);
  });
});
