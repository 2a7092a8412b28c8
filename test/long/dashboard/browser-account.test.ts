import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { accessibilityProblems, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

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

const codeFor = (email: string) => /Your code is (\d{6})/.exec(mails.findLast(({ to }) => to === email)!.text)![1]!;

/** What every page keeps, whatever is on it. */
async function expectSound(page: Page, javaScriptEnabled: boolean): Promise<void> {
  expect(await overflowOf(page)).toBe(0);
  if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
}

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
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
});
