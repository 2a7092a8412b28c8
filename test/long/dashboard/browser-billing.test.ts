import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reconcilePayments } from '../../../services/biller/reconcile-payments.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { accessibilityProblems, openPage, startBrowser } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { startPayments } from '../../support/fakes/running-payments.ts';
import type { RunningPayments } from '../../support/fakes/running-payments.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let browser: Browser;
/** Its webhooks are lost, so that the test decides when the payment is known. */
let checkout: RunningPayments;

beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  db = await createTestDatabase();
  checkout = await startPayments();
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  api = await startTestApi(db.pool, { port, baseUrl, payments: checkout.payments });
  browser = await startBrowser();
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await Promise.all([api.stop(), checkout.stop()]);
  await db.drop();
});

/** Learns of the payments whose webhooks were lost. */
async function learnOfPayments(): Promise<void> {
  const { signal } = new AbortController();
  const mayContinue = () => Promise.resolve(true);
  const deps = { pool: db.pool, metrics: createMetrics(), logger: silentLogger(), signal, mayContinue };
  expect(await reconcilePayments({ ...deps, ...checkout.payments })).toBe(true);
}

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
  test.each([true, false])('a pack is bought and its credits appear; scripts %s', async (javaScriptEnabled) => {
    const { accountId } = await api.account({ credits: 10, pack: 0 });
    const { cookie } = await visitDashboard(db.pool, api.url, accountId);
    const look = { width: 320, colorScheme: 'light', javaScriptEnabled } as const;
    const page = await openPage(browser, `${api.url}/dashboard/billing`, look, cookie);
    await page.getByRole('button', { name: 'Buy for $29' }).click();
    await page.getByRole('heading', { level: 1, name: 'Trial checkout' }).waitFor();
    if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Pay 29.00 USD of trial money' }).click();
    await page.getByText('Your payment is on its way').waitFor();
    if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
    await learnOfPayments();
    // With scripts the page updates by itself.
    if (!javaScriptEnabled) await page.reload();
    await page.getByText('20,000 credits were added.').waitFor();
    await page.getByRole('banner').getByText('20,010 credits').waitFor();
    await page.getByText('$29.00').waitFor();
    expect(await page.locator('#changes').innerText()).toContain('+20,000');
    await page.context().close();
  });
});
