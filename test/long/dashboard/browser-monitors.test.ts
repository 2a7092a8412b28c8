import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { accessibilityProblems, LOOKS, openPage, overflowOf, startBrowser } from '../../support/dashboard/browser.ts';
import type { Look } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { itemRow } from '../../../shared/archive/archive-rows.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';
import { HOSTILE, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';

let db: TestDatabase;
let archive: TestArchive;
let bench: MonitorPagesBench;
let browser: Browser;
let id: string;

beforeAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  bench = await MonitorPagesBench.create({ liveTail: { timing: { pollMs: 50 } }, clickhouse: archive.client });
  await fillArchive();
  browser = await startBrowser();
});
afterAll(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await browser.close();
  await bench.drop();
  await archive.drop();
  await db.drop();
});
beforeEach(async () => {
  if (BROWSER_MISSING !== undefined) return;
  await bench.reset();
  id = await bench.monitor({
    name: 'Rust, and whatever is written about it',
    keywords: ['rust', 'a-very-long-keyword-without-any-space-in-it-that-is-wider-than-a-small-screen'],
    webhook_url: 'https://hooks.example.com/a-very-long-path/without-any-space/in-it',
  });
});

/** Thirty items with zinc, five of them with brewery. The words of the archive are read once a minute. */
async function fillArchive(): Promise<void> {
  const bodies = Array.from({ length: 330 }, (_, n) => (n < 30 ? `zinc ${n < 5 ? 'brewery' : ''}` : `nothing ${n}`));
  const values = bodies.map((body, n) => itemRow(forumItemOf(`t1_${n}`, { body: `${body} ${HOSTILE}` }), false));
  await archive.client.insert({ table: 'items', values, format: 'JSONEachRow' });
}

const DESKTOP: Look = { width: 1280, colorScheme: 'light', javaScriptEnabled: true };
const open = (path: string, look: Look = DESKTOP): Promise<Page> =>
  openPage(browser, `${bench.api.url}/dashboard${path}`, look, bench.person.cookie);

describe.skipIf(BROWSER_MISSING !== undefined)(`in a browser ${BROWSER_MISSING ?? ''}`, () => {
  describe.each(['list', 'new', 'monitor', 'edit', 'webhook', 'deliveries', 'mutes', 'export', 'explain', 'match'])(
    'the page %s',
    (name) => {
      test.each(LOOKS)('fits $width px, $colorScheme, scripts $javaScriptEnabled', async (look) => {
        await bench.record(id, { body: `Iron and rust: ${'https://example.com/'.padEnd(200, 'x')}` });
        await bench.person.post(`/monitors/${id}/mutes`, { kind: 'author', value: 'somebody' });
        await bench.failDelivery(id, 'x'.repeat(200));
        const paths: Record<string, string> = {
          list: '/monitors',
          new: '/monitors/new',
          monitor: `/monitors/${id}`,
          match: `/monitors/${id}/matches/${matchId(id, 1)}`,
        };
        const page = await open(paths[name] ?? `/monitors/${id}/${name}`, look);
        expect(await page.locator('h1').count()).toBe(1);
        // Everything that can be opened.
        for (const summary of await page.locator('summary').all()) if (await summary.isVisible()) await summary.click();
        expect(await overflowOf(page)).toBe(0);
        if (look.javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
        await page.context().close();
      });
    },
  );

  test('matches appear as they are recorded, with marks and working buttons', async () => {
    await bench.record(id, { body: 'old rust' });
    const page = await open(`/monitors/${id}`);
    await bench.record(id, { body: '<b>new</b> rust <script>document.title = "broken"</script>' });
    const first = page.locator('ol.items > li').first();
    await first.getByText('<b>new</b>').waitFor();
    expect(await first.locator('mark').allTextContents()).toEqual(['rust']);
    expect(await page.title()).toContain('Rust, and whatever');
    await first.locator('summary').click();
    await first.getByRole('button', { name: 'u/smith' }).click();
    await page.getByText('Muted: nothing more').waitFor();
    await page.context().close();
  });

  test('six tabs do not block the seventh: a hidden one holds no stream, and catches up when it is seen', async () => {
    await bench.record(id);
    const page = await open(`/monitors/${id}`);
    const streams = async () => (await bench.db.pool.query('SELECT FROM live_tails')).rowCount;
    await eventually('the stream', async () => (await streams()) === 1);
    const become = (state: 'hidden' | 'seen') =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${state === 'hidden'}, configurable: true });
         document.dispatchEvent(new Event('visibilitychange'));`,
      );
    await become('hidden');
    await eventually('no stream', async () => (await streams()) === 0);
    await bench.record(id);
    expect(await page.locator('ol.items > li').count()).toBe(1);
    await become('seen');
    await page.locator(`#${matchId(id, 2)}`).waitFor();
    await page.context().close();
  });

  test.each([true, false])(
    'a match is bookmarked, hidden and shown again by one click, scripts %s',
    async (scripts) => {
      for (const title of ['First on rust', 'Second on rust']) await bench.record(id, { title });
      const page = await open(`/monitors/${id}`, { ...DESKTOP, javaScriptEnabled: scripts });
      const entry = page.locator(`#${matchId(id, 2)}`);
      expect(await entry.getByText('Unread.').count()).toBe(1);
      let loads = 0;
      page.on('load', () => loads++);
      await entry.getByRole('button', { name: 'Bookmark' }).click();
      await entry.locator('[data-key="b"][aria-pressed="true"]').waitFor();
      await entry.getByRole('button', { name: 'Not relevant' }).click();
      await entry.getByRole('button', { name: 'u/smith' }).waitFor();
      expect(await page.locator('[data-count="irrelevant"]').textContent()).toBe('1');
      expect(await page.locator('[data-count="bookmarked"]').textContent()).toBe('0');
      if (scripts) expect(await accessibilityProblems(page)).toEqual([]);
      await entry.getByRole('button', { name: 'Undo' }).click();
      await entry.getByRole('link', { name: 'Second on rust' }).waitFor();
      expect(loads).toBe(scripts ? 0 : 3);
      await page.context().close();
    },
  );

  test('what was shown is read when the page is opened again; what arrives meanwhile is not', async () => {
    await bench.record(id);
    const page = await open(`/monitors/${id}`);
    const unread = page.locator('ol.matches > li.unread');
    const position = async () =>
      (
        await bench.db.pool.query<{ seq: number }>(
          'SELECT read_seq AS seq FROM match_positions WHERE monitor_id = $1',
          [id],
        )
      ).rows[0]?.seq;
    await eventually('the position', async () => (await position()) === 1);
    expect(await unread.count()).toBe(1);
    await bench.record(id);
    await page.locator(`#${matchId(id, 2)}.unread`).waitFor();
    expect(await position()).toBe(1);
    await page.reload();
    expect(await unread.count()).toBe(1);
    await eventually('the position', async () => (await position()) === 2);
    await bench.record(id);
    await page.locator(`#${matchId(id, 3)}.unread`).waitFor();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await eventually('no unread match', async () => (await unread.count()) === 0);
    expect(await position()).toBe(3);
    await page.context().close();
  });

  test('keys move between the matches and mark them, but not while typing or when they are off', async () => {
    for (let n = 0; n < 3; n++) await bench.record(id, { title: `Title ${n}` });
    const page = await open(`/monitors/${id}`);
    const focused = () => page.evaluate<string>('document.activeElement.id');
    const press = (keys: string) => page.keyboard.press(keys);
    await press('j');
    await press('j');
    expect(await focused()).toBe(matchId(id, 2));
    await press('b');
    await page.locator(`#${matchId(id, 2)} [data-key="b"][aria-pressed="true"]`).waitFor();
    expect(await focused()).toBe(matchId(id, 2));
    await press('x');
    expect(await focused()).toBe(matchId(id, 1));
    await page.locator(`#${matchId(id, 2)}.gone`).waitFor();
    expect(await focused()).toBe(matchId(id, 1));
    await press('k');
    await press('x');
    await page.locator(`#${matchId(id, 2)}:not(.gone)`).waitFor();
    await press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press('x');
    await dialog.getByLabel('Shortcuts are on').uncheck();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator(`#${matchId(id, 3)}`).focus();
    await press('j');
    expect(await focused()).toBe(matchId(id, 3));
    await page.getByRole('button', { name: 'for shortcuts' }).click();
    await dialog.getByLabel('Shortcuts are on').check();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('More filters').click();
    await page.getByRole('textbox', { name: 'Keyword' }).focus();
    await page.keyboard.type('jxb?');
    expect(await page.getByRole('textbox', { name: 'Keyword' }).inputValue()).toBe('jxb?');
    await page.locator(`#${matchId(id, 3)}`).focus();
    const opened = page.waitForRequest((request) => request.url().startsWith('https://forum.example/'));
    await press('Enter');
    await opened;
    expect((await bench.db.pool.query('SELECT FROM match_marks WHERE monitor_id = $1', [id])).rowCount).toBe(0);
    await page.context().close();
  });

  test.each([true, false])(
    'a monitor is created, changed and deleted by hand, scripts %s',
    async (javaScriptEnabled) => {
      const page = await open('/monitors', { ...DESKTOP, javaScriptEnabled });
      await page.getByRole('link', { name: 'New monitor' }).click();
      await page.getByLabel('Name').fill('By hand');
      await page.getByLabel('Keywords', { exact: true }).fill('x');
      await page.getByRole('button', { name: 'Create the monitor' }).click();
      expect(await page.locator('#keywords-problem').textContent()).toContain('“x” must have 2 to 100 characters');
      expect(await page.getByLabel('Name').inputValue()).toBe('By hand');
      if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByLabel('Keywords', { exact: true }).fill('rust');
      await page.getByRole('button', { name: 'Create the monitor' }).click();
      expect(await page.locator('#secret').textContent()).toMatch(/^whsec_/);
      await page.getByRole('link', { name: 'View its matches' }).click();
      await page.getByRole('link', { name: 'Rule' }).click();
      await page.getByText('Or write the rule as text').click();
      await page.getByLabel('Rule as text').fill('golang OR ziglang -game');
      await page.getByRole('button', { name: 'Fill in the fields' }).click();
      expect(await page.getByLabel('Excluded terms').inputValue()).toBe('game');
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByText('The change was saved.').waitFor();
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByText('Delete this monitor').click();
      await page.getByRole('button', { name: /^Delete “By hand”/ }).click();
      await page.getByText('The monitor was deleted.').waitFor();
      await page.context().close();
    },
  );

  describe('trying a rule', () => {
    const isInView = async (page: Page, selector: string): Promise<boolean> => {
      const box = (await page.locator(selector).boundingBox())!;
      return box.y >= 0 && box.y < 800 && box.height > 0;
    };

    test.each([320, 1280] as const)('at %s px, the panel fills while the rule is typed', async (width) => {
      const page = await open('/monitors/new', { ...DESKTOP, width });
      const asked: string[] = [];
      page.on('request', (request) => request.url().endsWith('/monitors/try') && asked.push(request.postData() ?? ''));
      await page.getByLabel('Name').pressSequentially('Metals');
      await page.getByLabel('Keywords', { exact: true }).pressSequentially('zinc');
      const line = page.locator('#try-line');
      expect(await line.textContent()).toBe('Searching…');
      await line.getByText('30 matches').waitFor();
      expect(await isInView(page, '#try-line')).toBe(true);
      // Once, for the whole word; not for the name.
      expect(asked).toHaveLength(1);
      expect(asked[0]).not.toContain('Metals');
      expect(await page.locator('#try-rule').textContent()).toContain('the whole word “zinc”');
      expect(await page.locator('#preview mark').first().textContent()).toBe('zinc');
      expect(await overflowOf(page)).toBe(0);
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Exclude “brewery”' }).click();
      await line.getByText('25 matches').waitFor();
      expect(await page.getByLabel('Excluded terms').inputValue()).toBe('brewery');
      expect(await page.evaluate('document.activeElement.id')).toBe('preview');
      // A line break changes nothing, and neither does what does not belong to the rule.
      await page.getByLabel('Keywords', { exact: true }).press('End');
      await page.getByLabel('Keywords', { exact: true }).press('Enter');
      await page.getByLabel('Webhook URL').fill('https://example.com');
      await page.waitForTimeout(700);
      expect(asked).toHaveLength(2);
      // Enter creates the monitor: no suggestion is pressed.
      await page.getByLabel('Name').press('Enter');
      await page.locator('h1', { hasText: 'The monitor is running' }).waitFor();
      await page.context().close();
    });

    test('a field is marked when it is left, not while it is typed in', async () => {
      const page = await open('/monitors/new');
      const keywords = page.getByLabel('Keywords', { exact: true });
      await keywords.pressSequentially('x');
      await page.locator('#try-line').getByText('not complete').waitFor();
      expect(await page.locator('#try-rule').textContent()).toContain('“x” must have 2 to 100 characters');
      expect(await keywords.getAttribute('aria-invalid')).toBeNull();
      await keywords.press('Tab');
      expect(await keywords.getAttribute('aria-invalid')).toBe('true');
      expect(await page.locator('#keywords-problem').textContent()).toContain('2 to 100 characters');
      expect(await accessibilityProblems(page)).toEqual([]);
      await keywords.fill('zinc');
      await page.locator('#try-line').getByText('30 matches').waitFor();
      expect(await keywords.getAttribute('aria-invalid')).toBeNull();
      expect(await page.locator('#keywords-problem').count()).toBe(0);
      await page.context().close();
    });

    test('a monitor and an example show at once what they find', async () => {
      const zinc = await bench.monitor({ keywords: ['zinc'] });
      const page = await open(`/monitors/${zinc}/edit`);
      await page.locator('#try-line').getByText('30 matches').waitFor();
      await page.goto(`${bench.api.url}/dashboard/monitors/new`);
      await page.getByRole('link', { name: 'Hiring posts' }).click();
      await page.locator('#try-line').getByText('0 matches').waitFor();
      expect(await page.getByLabel('Keywords', { exact: true }).inputValue()).toBe('rust');
      await page.context().close();
    });

    test('a session that has ended is said in the panel, and what was typed stays', async () => {
      const page = await open('/monitors/new');
      await page.getByLabel('Keywords', { exact: true }).fill('zinc');
      await page.locator('#try-line').getByText('30 matches').waitFor();
      await page.context().clearCookies();
      await page.getByLabel('Keywords', { exact: true }).fill('zinc\nbrass');
      await page.locator('#try-line').getByText('Sign in again.').waitFor();
      expect(await page.getByLabel('Keywords', { exact: true }).inputValue()).toBe('zinc\nbrass');
      await page.context().close();
    });

    test.each([320, 1280] as const)('at %s px without scripts, the buttons lead to the result', async (width) => {
      const page = await open('/monitors/new', { ...DESKTOP, width, javaScriptEnabled: false });
      await page.getByLabel('Keywords', { exact: true }).fill('zinc');
      await page.getByRole('button', { name: 'Preview matches' }).click();
      expect(page.url()).toMatch(/#preview$/);
      expect(await page.locator('#try-line').textContent()).toContain('30 matches');
      for (const part of ['#try-line', '#preview h2']) expect(await isInView(page, part)).toBe(true);
      await page.getByRole('button', { name: 'Exclude “brewery”' }).click();
      expect(await page.locator('#try-line').textContent()).toContain('25 matches');
      await page.getByRole('button', { name: 'Explain this rule' }).click();
      expect(await page.locator('#try-rule').textContent()).toContain('AND NOT the whole word “brewery”');
      expect(await isInView(page, '#try-rule')).toBe(true);
      await page.context().close();
    });
  });
});
