import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityProblems, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import type { Look } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { startDocs } from '../../support/fixtures/docs-server.ts';

const BASE_URL = 'http://docs.example';
let docs: Awaited<ReturnType<typeof startDocs>>;
let browser: Browser;
let paths: string[];
beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  docs = await startDocs(BASE_URL);
  browser = await startBrowser();
  const list = await (await fetch(`${docs.url}/llms.txt`)).text();
  paths = ['/docs', ...[...list.matchAll(/\]\(http:\/\/docs\.example([^)]+)\.md\)/g)].map(([, path]) => path!)];
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  docs.stop();
});

// The pages have no scripts: axe brings the only one.
const LOOKS: readonly Look[] = [
  { width: 320, colorScheme: 'dark', javaScriptEnabled: true },
  { width: 1280, colorScheme: 'light', javaScriptEnabled: true },
];

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
  test.each(LOOKS)('every page of the documentation is sound at $width px, $colorScheme', async (look) => {
    expect(paths.length).toBeGreaterThan(70);
    const page = await openPage(browser, `${docs.url}/docs`, look);
    const problems: string[] = [];
    for (const path of paths) {
      await page.goto(docs.url + path);
      if ((await overflowOf(page)) !== 0) problems.push(`${path}: too wide`);
      for (const problem of await accessibilityProblems(page)) problems.push(`${path}: ${problem}`);
    }
    await page.context().close();
    expect(problems).toEqual([]);
  });
});
