import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityProblems, LOOKS, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { startPayments } from '../../support/fakes/running-payments.ts';
import type { RunningPayments } from '../../support/fakes/running-payments.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let checkout: RunningPayments;
let browser: Browser;
beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  db = await createTestDatabase();
  const port = await freePort();
  checkout = await startPayments(`http://127.0.0.1:${port}/stripe/webhook`);
  api = await startTestApi(db.pool, { port, payments: checkout.payments });
  browser = await startBrowser();
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await Promise.all([checkout.stop(), api.stop()]);
  await db.drop();
});

async function expectSound(page: Page, javaScriptEnabled: boolean): Promise<void> {
  expect(await overflowOf(page)).toBe(0);
  if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
}

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
  test.each(LOOKS)('a pack is bought: $width px, $colorScheme, scripts $javaScriptEnabled', async (look) => {
    const { accountId } = await api.account({ credits: 10, pack: 0 });
    const { cookie } = await visitDashboard(db.pool, api.url, accountId);
    const page = await openPage(browser, `${api.url}/dashboard/billing`, look, cookie);
    await page.getByRole('button', { name: 'Buy 5,000 credits for $9' }).click();
    await page.getByText('Trial without money').waitFor();
    await expectSound(page, look.javaScriptEnabled);
    const address = page.url();
    const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM payments WHERE account_id = $1', [accountId]);
    // The customer is back before the payment is confirmed.
    await page.goto(`${api.url}/dashboard/billing?bought=${rows[0]!.id}`);
    await page.getByText('Your payment is being processed.').waitFor();
    await expectSound(page, look.javaScriptEnabled);
    await checkout.press({ url: address }, 'pay');
    const added = page.getByText('5,000 credits were added.');
    if (look.javaScriptEnabled) {
      expect(await page.getByRole('link', { name: 'Reload this page' }).count()).toBe(0);
    } else {
      await page.getByRole('link', { name: 'Reload this page' }).click();
      const reloaded = async () => {
        await page.reload();
        return added.count();
      };
      await expect.poll(reloaded, { timeout: 20_000, interval: 500 }).toBe(1);
    }
    await added.waitFor();
    await page.locator('#balance').getByText('5,010').waitFor();
    // Without scripts it may be the balance of the moment before.
    if (look.javaScriptEnabled) await page.locator('header .balance', { hasText: '5,010' }).waitFor();
    await page.context().close();
  });
});
