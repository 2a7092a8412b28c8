import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStripe } from '../../../shared/payments/stripe-client.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { accessibilityProblems, LOOKS, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import type { Look } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { PAYMENT_SETTINGS } from '../../support/samples/stripe-events.ts';

let db: TestDatabase;
let api: TestApi;
let browser: Browser;

beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  db = await createTestDatabase();
  const payments = { settings: PAYMENT_SETTINGS, stripe: createStripe(PAYMENT_SETTINGS), clock: systemClock };
  api = await startTestApi(db.pool, { mailer: { send: () => Promise.resolve() }, payments });
  browser = await startBrowser();
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await api.stop();
  await db.drop();
});

/** An account with a monitor, and one of its sessions. */
async function newPerson(): Promise<DashboardVisitor & { monitorId: string }> {
  const { accountId, apiKey } = await api.account();
  const { id } = await api.monitor(apiKey, { name: 'Rust <b>& friends</b>', keywords: ['rust', 'borrow checker'] });
  return { ...(await visitDashboard(db.pool, api.url, accountId)), monitorId: id };
}

/** Opens a page, checks what every page must keep, and closes it after `check`. */
async function look(path: string, as: Look, cookie: string | undefined, check: (page: Page) => Promise<void>) {
  const page = await openPage(browser, `${api.url}/dashboard${path}`, as, cookie);
  try {
    await check(page);
    expect(await overflowOf(page)).toBe(0);
    if (as.javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
  } finally {
    await page.context().close();
  }
}

/** Pages of a signed-in person: the path, and the heading. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['', 'Overview'],
  ['/billing', 'Billing'],
  ['/keys', 'API keys'],
  ['/programs', 'Connected programs'],
  ['/account', 'Account'],
  ['/account/address', 'Change the address'],
  ['/nowhere', 'There is no such page'],
];

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
  describe.each(LOOKS)('of $width px, $colorScheme, scripts $javaScriptEnabled', (as) => {
    test('signing in', async () => {
      await look('/sign-in', as, undefined, async (page) => {
        await page.getByLabel('Your e-mail address').fill('not an address');
        // As a program does that does not check the field itself.
        await page.locator('form.narrow').evaluate((form: unknown) => {
          (form as { noValidate: boolean }).noValidate = true;
        });
        await page.getByRole('button', { name: 'Send the code' }).click();
        expect(await page.locator('#email-problem').innerText()).toContain('not a valid e-mail address');
        expect(await page.locator('#email').getAttribute('aria-invalid')).toBe('true');
        await page
          .getByLabel('Your e-mail address')
          .fill(`p${as.width}${as.colorScheme}${as.javaScriptEnabled}@gmail.com`);
        await page.getByRole('button', { name: 'Send the code' }).click();
        await page.getByRole('heading', { level: 1, name: 'Enter the code' }).waitFor();
      });
    });

    test.each(PAGES)('%s', async (path, heading) => {
      const { cookie, monitorId } = await newPerson();
      await look(path.replace('ID', monitorId), as, cookie, async (page) => {
        expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(heading);
      });
    });
  });

  test('pages can be used with the keyboard alone', async () => {
    const { cookie } = await newPerson();
    await look('', LOOKS[0]!, cookie, async (page) => {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
    });
  });
});
