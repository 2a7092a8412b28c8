import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityProblems, LOOKS, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import type { Look } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { ageMonitor, archiveMatches } from '../../support/fixtures/archived-matches.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR;
const TERMS = ['rust', 'borrow checker', 'cargo', 'tokio', 'serde', 'wasm', '<b>bold</b>'];

let db: TestDatabase;
let archive: TestArchive;
let bench: MonitorPagesBench;
let browser: Browser;
let id: string;

beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  bench = await MonitorPagesBench.create({ clickhouse: archive.client });
  browser = await startBrowser();
  await bench.reset();
  id = await bench.monitor({ keywords: TERMS, webhook_url: 'https://hooks.example.com/x' });
  await ageMonitor(bench.db.pool, id, 40);
  await archiveMatches(archive.client, [
    ...TERMS.map((term, index) => ({
      monitorId: id,
      seq: 100 * index + 1,
      count: 10 + index,
      seenAt: NOW - (index + 1) * 5 * HOUR,
      terms: [term],
      subreddit: index < 3 ? `a_community_with_a_long_name_${index}` : 'rust',
      lagMs: 2_000 + index * 300,
    })),
    { monitorId: id, seq: 5_000, count: 90, seenAt: NOW - 4 * HOUR, terms: ['rust'] },
  ]);
  await bench.record(id, { body: 'Iron and rust' });
  await bench.failDelivery(id, 'no');
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await bench.drop();
  await archive.drop();
  await db.drop();
});

const DESKTOP: Look = { width: 1280, colorScheme: 'light', javaScriptEnabled: true };
const open = (path: string, look: Look = DESKTOP): Promise<Page> =>
  openPage(browser, `${bench.api.url}/dashboard${path}`, look, bench.person.cookie);
const insights = (look?: Look, interval = 'day'): Promise<Page> =>
  open(`/monitors/${id}/trends?interval=${interval}`, look);

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
  describe.each(['day', 'hour'])('insights by %s', (interval) => {
    test.each(LOOKS)('fit $width px, $colorScheme, scripts $javaScriptEnabled', async (look) => {
      const page = await insights(look, interval);
      expect(await page.title()).toContain('Insights of');
      // The matches, the deliveries, and two steps of a match.
      expect(await page.locator('time-chart').count()).toBe(4);
      for (const summary of await page.locator('summary').all()) await summary.click();
      expect(await overflowOf(page)).toBe(0);
      expect(await page.locator('.chart-x text:not(.chart-wide)').first().isVisible()).toBe(true);
      // Half of the names of times, in a narrow chart.
      const isWide = await page.locator('.chart-wide').first().isVisible();
      expect(isWide).toBe(look.width === 1280);
      if (look.javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
      await page.context().close();
    });
  });

  test('a chart shows the values of the column under the pointer, and its sums again afterwards', async () => {
    const page = await insights(DESKTOP, 'hour');
    const chart = page.locator('time-chart').first();
    const readout = chart.locator('output');
    const sums = await readout.textContent();
    expect(sums).toContain('100 “rust”');
    const plot = (await chart.locator('.chart-plot > svg').boundingBox())!;
    // The hour of the spike is the fifth from the right of 169 columns.
    const columns = await chart.locator('.chart-columns rect').count();
    await page.mouse.move(plot.x + (plot.width * (columns - 4.5)) / columns, plot.y + 20);
    const hour = new Date(NOW - 4 * HOUR).toISOString().slice(11, 13);
    expect(await readout.textContent()).toMatch(new RegExp(`^\\d+ \\w+, ${hour}:00 UTC: 90 “rust” – spike$`));
    await page.mouse.move(0, 0);
    expect(await readout.textContent()).toBe(sums);
    await page.context().close();
  });

  test('a chart is one tab stop, whose arrow keys lead from column to column', async () => {
    const page = await open(`/monitors/${id}`);
    const slider = page.getByRole('slider', { name: 'Matches of the last 30 days' });
    const readout = page.locator('time-chart output').first();
    expect(await page.locator('time-chart [tabindex]').count()).toBe(1);
    await slider.focus();
    const today = await readout.textContent();
    expect(today).toMatch(/: 1 match$/);
    await page.keyboard.press('ArrowLeft');
    expect(await readout.textContent()).toMatch(/: 0 matches$/);
    expect(await slider.getAttribute('aria-valuetext')).toBe(await readout.textContent());
    expect(await slider.getAttribute('aria-valuenow')).toBe('29');
    await page.keyboard.press('Home');
    expect(await slider.getAttribute('aria-valuenow')).toBe('1');
    await page.keyboard.press('ArrowLeft');
    expect(await slider.getAttribute('aria-valuenow')).toBe('1');
    await page.keyboard.press('End');
    expect(await readout.textContent()).toBe(today);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
    await page.context().close();
  });

  test('a chart that replaces another one works too', async () => {
    const page = await open('');
    await page.evaluate(`(async () => {
      const copy = new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html');
      document.getElementById('overview').replaceWith(copy.getElementById('overview'));
    })()`);
    await page.getByRole('slider').focus();
    expect(await page.locator('time-chart output').textContent()).toMatch(/^\d+ \w+: 1 match$/);
    await page.context().close();
  });

  test('without scripts each column says its values', async () => {
    const page = await open(`/monitors/${id}`, { ...DESKTOP, javaScriptEnabled: false });
    const last = page.locator('.chart-columns rect').last();
    expect((await last.locator('title').textContent())!.trim()).toMatch(/^\d+ \w+: 1 match$/);
    expect(await page.getByRole('img', { name: /^Matches of the last 30 days\./ }).count()).toBe(1);
    expect(await page.locator('time-chart [tabindex]').count()).toBe(0);
    await page.context().close();
  });
});
