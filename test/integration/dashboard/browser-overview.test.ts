import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems, LOOKS, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let browser: Browser;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await api.stop();
  await db.drop();
});

test.each(LOOKS)('the overview fits $width px, $colorScheme, scripts $javaScriptEnabled', async (look) => {
  const { accountId, apiKey } = await api.account();
  await api.monitor(apiKey);
  const person = await visitDashboard(db.pool, api.url, accountId);
  const page = await openPage(browser, `${api.url}/dashboard`, look, person.cookie);
  expect(await page.title()).toBe('Overview – Forum monitor');
  expect(await overflowOf(page)).toBe(0);
  expect(await page.getByText('1 of 100').isVisible()).toBe(true);
  if (look.javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/overview-${look.width}-${look.colorScheme}.png` });
  await page.context().close();
});
