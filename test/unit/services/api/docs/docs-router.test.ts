import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOpenApiDocument } from '../../../../../services/api/openapi/build-openapi.ts';
import { startDocs } from '../../../../support/fixtures/docs-server.ts';
import { describedRoutes } from '../../../../support/fixtures/idle-api.ts';

const DOCS = join(import.meta.dirname, '../../../../../docs');
/** A proxy strips `/forum`. */
const BASE_URL = 'https://example.com/forum';
const DASHBOARD_URL = 'https://dash.example.com';
let docs: Awaited<ReturnType<typeof startDocs>>;
/** Every page that is linked from the index, directly or not, by its path. */
const pages = new Map<string, string>();

beforeAll(async () => {
  docs = await startDocs(BASE_URL, DASHBOARD_URL);
  const waiting = ['/docs'];
  for (const path of waiting) {
    const page = await read(path);
    pages.set(path, page);
    for (const { path: target } of linksOf(page)) {
      if (target.startsWith('/docs') && !/\.(md|css|png)$/.test(target) && !waiting.includes(target))
        waiting.push(target);
    }
  }
});
afterAll(() => docs.stop());

async function read(path: string): Promise<string> {
  const response = await fetch(docs.url + path);
  expect([path, response.status]).toEqual([path, 200]);
  return response.text();
}

/** Links to this service, as its server sees them. */
function linksOf(page: string): { path: string; anchor: string }[] {
  const links = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link!);
  return links.flatMap((link) => {
    const [path = '', anchor = ''] = link.split('#');
    if (link.startsWith(BASE_URL)) return [{ path: path.slice(BASE_URL.length), anchor }];
    if (link.startsWith('/')) {
      expect(path).toMatch(/^\/forum\//);
      return [{ path: path.slice('/forum'.length), anchor }];
    }
    return [];
  });
}

test('every document below docs/ is a page of the index, and so are the API and its errors', () => {
  const files = globSync('*/**/*.md', { cwd: DOCS }).map((file) => `/docs/${file.replace(/\.md$/, '')}`);
  expect(files.length).toBeGreaterThan(10);
  const listed = linksOf(pages.get('/docs')!).map(({ path }) => path);
  for (const path of [...files, '/docs/reference/api', '/docs/reference/errors']) expect(listed).toContain(path);
});

test('every operation and webhook has a page', () => {
  const document = buildOpenApiDocument(describedRoutes(), BASE_URL);
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const titles = [...pages.values()].map((page) => /<h1>([^<]*)/.exec(page)![1]!.replaceAll('&#39;', "'"));
  for (const { summary } of [...operations, ...Object.values(document.webhooks).map(({ post }) => post)]) {
    expect(titles).toContain(summary);
  }
});

test('no link is dead, and each anchor is on its page', async () => {
  for (const [from, page] of pages) {
    for (const { path, anchor } of linksOf(page)) {
      if (['', '/openapi.json', '/dashboard'].includes(path)) continue;
      const target = pages.get(path) ?? (await read(path));
      if (anchor !== '') expect(target, `${from} links to ${path}#${anchor}`).toContain(` id="${anchor}"`);
    }
  }
});

const words = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

test('each page says the same as its Markdown', async () => {
  for (const [path, page] of pages) {
    const title = /<h1>[^]*?<\/h1>/.exec(page)![0];
    const article = /<article>([^]*)<p class="soft">[^]*<\/article>/.exec(page)![1]!;
    const shown = (title + article)
      .replaceAll(/<img[^>]* alt="([^"]*)"[^>]*>/g, '$1')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/&(#?\w+);/g, (_, name: string) => ENTITIES[name]!);
    const markdown = (await read(`${path}.md`))
      .replaceAll(/\]\([^)\s]+\)/g, ']')
      .replaceAll(/^ *```\w*$/gm, '')
      .replaceAll(/^( *)\d+\. /gm, '$1');
    expect(words(shown), path).toEqual(words(markdown));
  }
});

test('guides name the addresses of this installation', async () => {
  expect(await read('/docs/guide/first-monitor.md')).toContain(`API=${BASE_URL}\n`);
  expect(await read('/docs/guide/first-monitor.md')).toContain(`${DASHBOARD_URL}/dashboard`);
  expect(await read('/docs/guide/agents.md')).toContain(`${BASE_URL}/mcp`);
  expect(await read('/llms-full.txt')).not.toContain('localhost:8080');
});

test('each error has each of its statuses, and what to do', async () => {
  const errors = await read('/docs/reference/errors.md');
  const [, entry] = /^## internal_error\n([^]*?)\n## /m.exec(errors)!;
  expect(entry).toMatch(/Status 500\. [^]*Status 503\. /);
  const codes = errors.match(/^## /gm)!;
  expect(errors.match(/^What to do: [A-Z`].*\.$/gm)!.length).toBe(codes.length + 1);
  expect(await read('/docs/reference/api.md')).toMatch(/\| 503 \| \[`internal_error`\]/);
});

test('an error of every request stands where the description names it, and types are readable', async () => {
  expect(await read('/docs/reference/api/redeliver.md')).toMatch(/\| 429 \| \[`rate_limited`\]/);
  expect(await read('/docs/reference/api/create-monitor.md')).toContain(
    '| `require` | list of at most 5 lists of at most 20 strings or objects, or null |',
  );
});

test('a page has not changed for a client that has it', async () => {
  for (const path of ['/docs', '/docs/guide/webhooks.md', '/llms-full.txt']) {
    const etag = (await fetch(docs.url + path)).headers.get('etag')!;
    const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
    const again = await fetch(docs.url + path, { headers });
    expect([path, again.status, await again.text()]).toEqual([path, 304, '']);
  }
});

test('pages have no scripts, and nothing of another origin', () => {
  for (const page of pages.values()) {
    expect(page).not.toMatch(/<script|<style|\sstyle=|\son\w+="|<iframe/);
    expect(page).not.toMatch(/(?:src|<link[^>]* href)="https?:/);
  }
});

test('llms.txt links to the Markdown of every page, and llms-full.txt holds them all', async () => {
  const [list, full] = [await read('/llms.txt'), await read('/llms-full.txt')];
  for (const path of pages.keys()) {
    if (path !== '/docs') expect(list).toContain(`](${BASE_URL}${path}.md)`);
    expect(full).toContain((await read(`${path}.md`)).trim());
  }
});

/** The code of all pages in a language. */
async function codeIn(language: string): Promise<string[]> {
  const texts = await Promise.all([...pages.keys()].map((path) => read(`${path}.md`)));
  return texts.flatMap((text) =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, code]) => code!),
  );
}

test('the examples are valid for the shell and Node', async () => {
  const shell = await codeIn('sh');
  expect(shell.length).toBeGreaterThan(60);
  expect(spawnSync('bash', ['-n'], { input: shell.join('\n') }).stderr.toString()).toBe('');
  const modules = (await codeIn('js')).filter((code) => !code.includes('import '));
  expect(modules.length).toBeGreaterThan(50);
  const blocks = modules.map((code) => `{\n${code}}\n`).join('');
  const checked = spawnSync(process.execPath, ['--input-type=module', '--check'], { input: blocks });
  expect(checked.stderr.toString()).toBe('');
});

test.skipIf(spawnSync('python3', ['--version']).status !== 0)('the examples are valid Python', async () => {
  const python = JSON.stringify(await codeIn('python'));
  const compile = 'import json, sys\nfor code in json.load(sys.stdin): compile(code, "example", "exec")';
  expect(spawnSync('python3', ['-c', compile], { input: python }).stderr.toString()).toBe('');
});
