import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { installChromium } from './chromium.ts';

/** Works without a display, a GPU and user namespaces. Nothing that weakens the web's own rules is switched on. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Starts the Chromium that an npm package carries. Where the system lacks libraries, it takes the package's. */
export async function startBrowser(): Promise<Browser> {
  const { executable, libraries, env } = await installChromium();
  const launch = (more: Record<string, string>) =>
    chromium.launch({ executablePath: executable, args: ARGUMENTS, env: { ...process.env, ...env, ...more } });
  try {
    return await launch({});
  } catch {
    return launch({ LD_LIBRARY_PATH: libraries });
  }
}

/** How a page is looked at. */
export interface Look {
  width: 320 | 1280;
  colorScheme: 'light' | 'dark';
  javaScriptEnabled: boolean;
}

/** Both widths, both colour schemes, with and without scripts. */
export const LOOKS: readonly Look[] = ([320, 1280] as const).flatMap((width) =>
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    [true, false].map((javaScriptEnabled) => ({ width, colorScheme, javaScriptEnabled })),
  ),
);

/** Opens a page as a person sees it. @param cookies `name=value` for the page's site */
export async function openPage(browser: Browser, url: string, look: Look, cookie?: string): Promise<Page> {
  const { width, ...rest } = look;
  const context = await browser.newContext({ ...rest, viewport: { width, height: 800 } });
  if (cookie !== undefined) {
    const [name, value] = cookie.split('=') as [string, string];
    await context.addCookies([{ name, value, url: new URL(url).origin }]);
  }
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** What axe finds wrong with a page: the rule and the elements. Needs a page with scripts. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // Injected past the page's own policy, as a browser extension is.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const axe = (globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } }).axe;
    return (await axe.run()).violations;
  });
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}

interface AxeViolation {
  id: string;
  nodes: { html: string }[];
}

/** By how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
