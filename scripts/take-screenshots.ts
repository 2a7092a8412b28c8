/**
 * `npm run screenshots`: takes the pictures of the dashboard that the README shows, from the installation that runs
 * (`npm start`), as its demo account. It creates a monitor there if the account has none, and waits for matches.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { startBrowser } from '../test/support/dashboard/browser.ts';

const FOLDER = join(import.meta.dirname, '../docs/screenshots');
const MATCHES = 8;
const RULE = { name: 'Coffee gear', keywords: 'coffee\nkettle\ngrinder', exclude: 'coffee table' };

const { values } = parseArgs({ options: { out: { type: 'string', default: FOLDER } } });
mkdirSync(values.out, { recursive: true });
const browser = await startBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: 'light' });
  page.setDefaultTimeout(120_000);
  await signIn(page);
  const monitor = await monitorOf(page);
  await page.goto(monitor);
  await page
    .locator('ol.items > li')
    .nth(MATCHES - 1)
    .waitFor();
  await picture(page, 'monitor', monitor);
  await picture(page, 'overview', new URL('/dashboard', monitor).href);
  await page.goto(`${monitor}/edit`);
  await page.locator('#try-line').getByText('matches').waitFor();
  await picture(page, 'rule');
  await picture(page, 'insights', `${monitor}/trends`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(monitor);
  await page.getByRole('link', { name: 'Why' }).first().click();
  await page.getByRole('heading', { name: 'Why did this match?' }).waitFor();
  await picture(page, 'why');
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, 'phone', monitor);
} finally {
  await browser.close();
}

async function signIn(page: Page): Promise<void> {
  const args = ['run', '--silent', 'admin', '--', 'account', 'sign-in-link', '--email', 'demo@localhost'];
  const { url } = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' })) as { url: string };
  await page.goto(url);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** The address of the demo account's first monitor. */
async function monitorOf(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Monitors', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Monitors' }).waitFor();
  const first = page.locator('main table a[href*="/monitors/mon_"]').first();
  if ((await first.count()) === 0) {
    await page.getByRole('link', { name: 'New monitor' }).click();
    await page.getByLabel('Name').fill(RULE.name);
    await page.getByLabel('Keywords', { exact: true }).fill(RULE.keywords);
    await page.getByLabel('Excluded terms').fill(RULE.exclude);
    await page.getByRole('button', { name: 'Create the monitor' }).click();
    await page.getByRole('link', { name: 'View its matches' }).click();
    await page.getByRole('heading', { level: 1, name: RULE.name }).waitFor();
    return page.url();
  }
  return new URL((await first.getAttribute('href'))!, page.url()).href;
}

/** @param url default: the page that is open */
async function picture(page: Page, name: string, url?: string): Promise<void> {
  if (url !== undefined) await page.goto(url);
  const file = join(values.out, `${name}.png`);
  await page.screenshot({ path: file });
  console.log(file);
}
