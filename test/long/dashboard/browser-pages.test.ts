import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityProblems, LOOKS, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import type { Look } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { reconcilePayments } from '../../../services/biller/reconcile-payments.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { startPayments } from '../../support/fakes/running-payments.ts';
import type { RunningPayments } from '../../support/fakes/running-payments.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let db: TestDatabase;
let api: TestApi;
let browser: Browser;
/** Its webhooks are lost, so that a test decides when a payment is known. */
let checkout: RunningPayments;
const mails: Mail[] = [];
beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  db = await createTestDatabase();
  checkout = await startPayments();
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const mailer = { send: (mail: Mail) => Promise.resolve(void mails.push(mail)) };
  api = await startTestApi(db.pool, { mailer, port, baseUrl, payments: checkout.payments });
  browser = await startBrowser();
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await Promise.all([api.stop(), checkout.stop()]);
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

const codeFor = (email: string) => /Your code is (\d{6})/.exec(mails.findLast(({ to }) => to === email)!.text)![1]!;

/** What every page keeps, whatever is on it. */
async function expectSound(page: Page, javaScriptEnabled: boolean): Promise<void> {
  expect(await overflowOf(page)).toBe(0);
  if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
}

/** Learns of the payments whose webhooks were lost. */
async function learnOfPayments(): Promise<void> {
  const { signal } = new AbortController();
  const mayContinue = () => Promise.resolve(true);
  const deps = { pool: db.pool, metrics: createMetrics(), logger: silentLogger(), signal, mayContinue };
  expect(await reconcilePayments({ ...deps, ...checkout.payments })).toBe(true);
}

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

  test.each([true, false])(
    'a person creates a key, chooses mails, changes the address and deletes the account, scripts %s',
    async (javaScriptEnabled) => {
      const { accountId, email } = await api.account();
      const { cookie } = await visitDashboard(db.pool, api.url, accountId);
      const look = { width: 320, colorScheme: 'dark', javaScriptEnabled } as const;
      const page = await openPage(browser, `${api.url}/dashboard/keys`, look, cookie);
      const sound = () => expectSound(page, javaScriptEnabled);

      await page.getByLabel('Name').fill('laptop');
      await page.getByLabel('Manage the account').uncheck();
      await page.getByRole('button', { name: 'Create the key' }).click();
      const key = await page.locator('#new-key').textContent();
      await sound();
      expect((await api.call(key!, 'GET', '/v1/monitors')).status).toBe(200);
      expect((await api.call(key!, 'GET', '/v1/account')).status).toBe(403);
      await page.getByRole('link', { name: 'I have stored the key' }).click();
      await page.getByText('Revoke laptop', { exact: true }).click();
      await sound();
      await page.getByRole('button', { name: 'Revoke laptop for good' }).click();
      await page.getByText('The key was revoked.').waitFor();
      expect((await api.call(key!, 'GET', '/v1/monitors')).status).toBe(401);

      await page.getByRole('link', { name: 'Account', exact: true }).click();
      await page.getByLabel('A webhook that failed works again').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Your choice of mails was saved.').waitFor();
      expect(await page.getByLabel('A webhook that failed works again').isChecked()).toBe(false);

      const next = `next-${accountId.slice(4)}@gmail.com`;
      await page.getByRole('link', { name: 'Change the address' }).click();
      await page.getByLabel('New address').fill(next);
      await page.getByRole('button', { name: 'Mail the codes' }).click();
      await page.getByLabel(`Code mailed to ${email}`).fill('000000');
      await page.getByLabel(`Code mailed to ${next}`).fill(codeFor(next));
      await page.getByRole('button', { name: 'Change the address' }).click();
      await page.getByText('Tries left: 2.').waitFor();
      await sound();
      await page.getByLabel(`Code mailed to ${email}`).fill(codeFor(email));
      await page.getByLabel(`Code mailed to ${next}`).fill(codeFor(next));
      await page.getByRole('button', { name: 'Change the address' }).click();
      await page.getByText('The address was changed.').waitFor();
      expect((await findAccount(db.pool, accountId))!.email).toBe(next);

      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download all data' }).click();
      expect((await download).suggestedFilename()).toBe(`forum-monitor-${accountId}.jsonl`);

      await page.getByText('Delete this account for good').click();
      await page.getByLabel(`Type ${next} to confirm`).fill('somebody else');
      await page.getByRole('button', { name: 'Delete the account' }).click();
      await page.getByText('is not the address of this account').waitFor();
      await sound();
      await page.getByLabel(`Type ${next} to confirm`).fill(next);
      await page.getByRole('button', { name: 'Delete the account' }).click();
      await page.getByRole('heading', { name: 'Your account is deleted' }).waitFor();
      await sound();
      expect((await findAccount(db.pool, accountId))!.status).toBe('deleted');
      await page.context().close();
    },
  );

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
