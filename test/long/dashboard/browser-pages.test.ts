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
import { findAccount } from '../../../shared/accounts/accounts.ts';

let db: TestDatabase;
let api: TestApi;
let browser: Browser;
const mails: Mail[] = [];
beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  db = await createTestDatabase();
  const mailer = { send: (mail: Mail) => Promise.resolve(void mails.push(mail)) };
  api = await startTestApi(db.pool, { mailer });
  browser = await startBrowser();
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await api.stop();
  await db.drop();
});

/** A session of an account with a monitor. */
async function newPerson(): Promise<DashboardVisitor> {
  const { accountId, apiKey } = await api.account();
  await api.monitor(apiKey, { name: 'Rust <b>& friends</b>', keywords: ['rust', 'borrow checker'] });
  return visitDashboard(db.pool, api.url, accountId);
}

/** Opens a page, checks what every page must keep, and closes it after `check`. */
async function look(path: string, as: Look, cookie: string | undefined, check: (page: Page) => Promise<void>) {
  const page = await openPage(browser, `${api.url}/dashboard${path}`, as, cookie);
  try {
    await check(page);
    await expectSound(page, as.javaScriptEnabled);
  } finally {
    await page.context().close();
  }
}

/** Pages of a signed-in person: the path, and the heading. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['', 'Overview'],
  ['/deliveries', 'Deliveries'],
  ['/usage', 'Usage'],
  ['/billing', 'Billing'],
  ['/keys', 'API keys'],
  ['/programs', 'Connected apps'],
  ['/account', 'Account'],
  ['/account/address', 'Change the address'],
  ['/status', 'Status'],
  ['/nowhere', 'Page not found'],
];

const codeFor = (email: string) => /Your code is (\d{6})/.exec(mails.findLast(({ to }) => to === email)!.text)![1]!;

/** What every page keeps, whatever is on it. */
async function expectSound(page: Page, javaScriptEnabled: boolean): Promise<void> {
  expect(await overflowOf(page)).toBe(0);
  if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
}

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
  describe.each(LOOKS)('of $width px, $colorScheme, scripts $javaScriptEnabled', (as) => {
    test('signing in', async () => {
      await look('/sign-in', as, undefined, async (page) => {
        await page.getByLabel('Your e-mail address').fill('not an address');
        // As a program does that does not check the field itself.
        await page.locator('main form').evaluate((form: unknown) => {
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
      const { cookie } = await newPerson();
      await look(path, as, cookie, async (page) => {
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
    'a person chooses mails, changes the address and downloads all data, scripts %s',
    async (javaScriptEnabled) => {
      const { accountId, email } = await api.account();
      const { cookie } = await visitDashboard(db.pool, api.url, accountId);
      const look = { width: 320, colorScheme: 'dark', javaScriptEnabled } as const;
      const page = await openPage(browser, `${api.url}/dashboard/account`, look, cookie);
      await page.getByLabel('A failing webhook works again').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Your mail settings were saved.').waitFor();
      expect(await page.getByLabel('A failing webhook works again').isChecked()).toBe(false);

      const next = `next-${accountId.slice(4)}@gmail.com`;
      await page.getByRole('link', { name: 'Change the address' }).click();
      await page.getByLabel('New address').fill(next);
      await page.getByRole('button', { name: 'Mail the codes' }).click();
      await page.getByLabel(`Code mailed to ${email}`).fill('000000');
      await page.getByLabel(`Code mailed to ${next}`).fill(codeFor(next));
      await page.getByRole('button', { name: 'Change the address' }).click();
      await page.getByText('Tries left: 2.').waitFor();
      await expectSound(page, javaScriptEnabled);
      await page.getByLabel(`Code mailed to ${email}`).fill(codeFor(email));
      await page.getByLabel(`Code mailed to ${next}`).fill(codeFor(next));
      await page.getByRole('button', { name: 'Change the address' }).click();
      await page.getByText('The address was changed.').waitFor();
      expect((await findAccount(db.pool, accountId))!.email).toBe(next);

      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download all data' }).click();
      expect((await download).suggestedFilename()).toBe(`forum-monitor-${accountId}.jsonl`);
      await page.context().close();
    },
  );
});
