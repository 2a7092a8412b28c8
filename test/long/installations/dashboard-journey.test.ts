import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { Installation } from '../../support/children/installation.ts';
import { accessibilityProblems, openPage, startBrowser } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

let installation: Installation;
let receiver: WebhookReceiver;
let browser: Browser;
let page: Page;
/** The status of the receiver's responses. */
let answer = 204;
let email: string;
let hasScripts: boolean;

beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  installation = await Installation.prepare({ SIGNUP_DNS_CHECK: '0' });
  [receiver, browser] = await Promise.all([startWebhookReceiver(() => answer), startBrowser(), installation.start()]);
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await receiver.stop();
  await installation.remove();
});

/** The newest mail to the address, once there is one that fits. */
function mailWith(pattern: RegExp): Promise<string> {
  const outbox = join(installation.dataDir, 'outbox');
  return eventually(`a mail with ${String(pattern)}`, () => {
    const mails = readdirSync(outbox).map((file) => readFileSync(join(outbox, file), 'utf8'));
    return mails.filter((mail) => mail.includes(email)).flatMap((mail) => pattern.exec(mail)?.[1] ?? [])[0];
  });
}

/** Waits for a page, which anybody can use. */
async function heading(name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name }).waitFor();
  if (hasScripts) expect(await accessibilityProblems(page), name).toEqual([]);
}

/** Waits for what appears by itself, or without scripts when the page is loaded again. */
async function appears(expected: Locator): Promise<void> {
  if (hasScripts) return expected.waitFor();
  await eventually('what a new page shows', async () => (await page.reload(), expected.isVisible()), 60_000);
}

const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
const open = (name: string) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
const statusWith = async (key: string) =>
  (await fetch(`${installation.url}/v1/account`, { headers: { authorization: `Bearer ${key}` } })).status;

test.skipIf(BROWSER_MISSING !== undefined).each([true, false])(
  'a person does all of it, scripts %s',
  async (scripts) => {
    hasScripts = scripts;
    email = `${randomText(10)}@shop.test`;
    const look = { width: 1280, colorScheme: 'light', javaScriptEnabled: scripts } as const;
    page = await openPage(browser, `${installation.url}/`, look);
    page.setDefaultTimeout(60_000);

    // Sign in with the code from the outbox: a new address opens an account.
    await heading('Sign in');
    await page.getByLabel('Your e-mail address').fill(email);
    await press('Send the code');
    await heading('Enter the code');
    await page.getByLabel('Code').fill(await mailWith(/Your code is (\d{6})/));
    await press('Sign in');
    await heading('Overview');
    expect(await page.locator('header .balance').innerText()).toBe('200 credits');
    await page.getByRole('heading', { name: 'Three steps to your first match' }).waitFor();

    // A key, which works at once.
    await open('Keys');
    await page.getByLabel('Name').fill('laptop');
    await page.getByRole('checkbox', { name: 'Manage the account' }).check();
    await press('Create the key');
    await heading('Your new key');
    const key = await page.locator('#new-key').innerText();
    expect(await statusWith(key)).toBe(200);

    // A monitor from an example, whose rule is tried while it is typed, and whose secret is shown once.
    await open('Monitors');
    await page.getByRole('link', { name: 'New monitor' }).click();
    await page.getByRole('link', { name: 'Brand mentions' }).click();
    await page.getByLabel('Name').fill('Rust and coffee');
    await page.getByLabel('Keywords', { exact: true }).fill('rust\ncoffee\npython');
    await page.getByLabel('Webhook URL').fill(receiver.url);
    if (!hasScripts) await press('Preview matches');
    await page.locator('#try-rule').getByText('the whole word “coffee”').waitFor();
    expect(await page.getByRole('checkbox', { name: 'Mail me' }).isChecked()).toBe(true);
    await press('Create the monitor');
    await heading('The monitor is running');
    const secret = await page.locator('#secret').innerText();
    const [monitorId] = /mon_\w+/.exec(
      (await page.getByRole('link', { name: 'View its matches' }).getAttribute('href'))!,
    )!;
    await page.getByRole('link', { name: 'View its matches' }).click();

    // A match appears by itself, with its terms marked, and arrives at the webhook with a valid signature.
    await appears(page.locator('ol.items mark').first());
    const webhook = await eventually(
      'a webhook',
      () => receiver.received.find(({ body }) => body.includes(monitorId)),
      60_000,
    );
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(webhook.headers['x-service-signature']))!;
    expect(v1).toBe(createHmac('sha256', secret).update(`${t!}.${webhook.body}`).digest('hex'));

    // The first match is mailed at once, without being asked for.
    await mailWith(/(new match(?:es)? of)/);

    // The webhook is tested. When it fails, the overview says so, and what waited is sent when it works again.
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Delivery' }).click();
    await press('Send a test match');
    await page.getByText('The sample was delivered.').waitFor();
    answer = 500;
    await open('Overview');
    await appears(page.locator('.notice', { hasText: 'Response 500: expected 2xx' }));
    answer = 204;
    const before = receiver.received.length;
    await press('Send waiting matches now');
    await page.getByText(/queued|already being sent/).waitFor();
    await eventually('what waited', () => receiver.received.length > before, 60_000);
    await page.getByRole('navigation', { name: 'This monitor' }).getByRole('link', { name: 'Matches' }).click();
    await appears(page.getByText('Delivering'));

    // The trial checkout: plan, limits and credits change.
    await open('Billing');
    await press('Buy 5,000 credits for $9');
    await page.getByText('Trial without money').waitFor();
    await press(/^Pay \$9\.00/);
    await heading('Billing');
    // The page updates by itself.
    await appears(page.getByText('5,000 credits were added.'));
    await appears(page.getByRole('banner').getByText('5,190 credits'));
    await open('Overview');
    await page.getByText('1 of 10').waitFor();

    // A revoked key is refused at once.
    await open('Keys');
    await page.getByRole('listitem').filter({ hasText: 'laptop' }).locator('summary').click();
    await press(/^Revoke/);
    await page
      .getByText(/revoked/i)
      .first()
      .waitFor();
    expect(await statusWith(key)).toBe(401);

    // Deletion: the session ends, and the address is free again.
    await open('Account');
    await page.locator('summary', { hasText: /delete/i }).click();
    await page
      .locator('details[open]')
      .getByLabel(/to confirm/)
      .fill(email);
    await page.locator('details[open]').getByRole('button').click();
    await heading('Your account was deleted');
    await page.goto(`${installation.url}/dashboard`);
    await heading('Sign in');
    await mailWith(/Your account was (deleted)/);
    await page.context().close();
  },
);
