import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { VisitedPage } from '../../support/dashboard/dashboard-visitor.ts';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';

let bench: MonitorPagesBench;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
});
afterAll(() => bench.drop());
beforeEach(() => bench.reset());

const FORM = { name: 'My monitor', keywords: 'rust\r\n"borrow checker"\r\n', posts: 'on', comments: 'on' };
const idIn = ({ html }: VisitedPage): string => /\/monitors\/(mon_\w+)/.exec(html)![1]!;

test('creates a monitor of all fields, and shows its secret and its rule in words', async () => {
  const page = await bench.person.post('/monitors/new', {
    ...FORM,
    exclude: 'trust fund',
    subreddits: 'r/rust\nprogramming',
    comments: [],
    nsfw: 'on',
    terms: 'hir*\n=Go\ntitle:zig',
    require: 'remote OR "work from home"\njob*',
    match_in: ['title', 'body'],
    exclude_subreddits: 'rustjerk',
    authors: 'u/ana',
    exclude_authors: 'automod',
    languages: 'en, de und',
    thread_once: 'on',
    webhook_url: bench.receiver.url,
    webhook_kind: 'generic',
    digest: 'daily',
    spike_webhook: 'on',
  });
  expect(page.status).toBe(200);
  expect(page.html).toMatch(/id="secret">whsec_/);
  expect(page.html).toContain('AND NOT the whole words “trust fund”, in any text.');
  expect(await bench.read(idIn(page))).toMatchObject({
    name: 'My monitor',
    keywords: ['rust', '"borrow checker"'],
    exclude: ['trust fund'],
    subreddits: ['rust', 'programming'],
    include_posts: true,
    include_comments: false,
    nsfw: true,
    terms: [
      { text: 'hir', prefix: true },
      { text: 'Go', case_sensitive: true },
      { text: 'zig', in: ['title'] },
    ],
    require: [['remote', 'work from home'], [{ text: 'job', prefix: true }]],
    exclude_subreddits: ['rustjerk'],
    authors: ['ana'],
    exclude_authors: ['automod'],
    languages: ['en', 'de', 'und'],
    thread_once: true,
    webhook_url: bench.receiver.url,
    webhook_kind: 'generic',
    digest: 'daily',
    spike_webhook: true,
  });
});

test('sent twice creates and charges once', async () => {
  const { html } = await bench.person.get('/monitors/new');
  const key = /name="idempotency_key" value="(\w+)"/.exec(html)![1]!;
  expect(html).toContain('Costs 10 credits now, and 10 for each further 24 hours. You have 1,000.');
  const send = () => bench.person.post('/monitors/new', { ...FORM, idempotency_key: key });
  const pages = await Promise.all([send(), send()]);
  pages.push(await send());
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(pages.map(idIn)).size).toBe(1);
  expect(new Set(pages.map(({ html: page }) => /whsec_[\w+/=]+/.exec(page)![0])).size).toBe(1);
  expect(await bench.balance()).toBe(990);
});

test.each<[Record<string, string>, RegExp]>([
  [{ name: '' }, /id="name-problem"/],
  [{ keywords: 'x\nrust' }, /id="keywords-problem" role="alert">“x” must have 2 to 100 characters/],
  [{ keywords: '' }, /id="keywords-problem" role="alert">must have at least one term/],
  [{ subreddits: 'rust\nnot a name' }, /id="subreddits-problem" role="alert">“not a name” must be the name/],
  [{ terms: 'hir*\nnow hiring' }, /id="terms-problem" role="alert">“now hiring” write OR or AND/],
  [{ terms: 'hi*' }, /id="terms-problem" role="alert">“hi\*” must be one word with at least 3 letters/],
  [{ require: 'a1 OR b1\nsub:rust' }, /id="require-problem" role="alert">“sub:rust” parentheses hold only/],
  [{ languages: 'en xx' }, /id="languages-problem" role="alert">“xx” must be a known ISO 639-1 code/],
  [{ webhook_url: 'ftp://x' }, /id="webhook_url-problem"/],
  [{ webhook_kind: 'slack' }, /id="webhook_kind-problem" role="alert">needs a webhook_url/],
])('says what is wrong with %j beside the field, and keeps what was typed', async (wrong, problem) => {
  const typed = { ...FORM, exclude: HOSTILE, ...wrong };
  const page = await bench.person.post('/monitors/new', typed);
  expect([page.status, page.html]).toEqual([400, expect.stringMatching(problem) as string]);
  expect(page.html).toContain('aria-invalid="true"');
  expect(page.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(isEscaped(page)).toBe(true);
  for (const value of Object.values(wrong).filter(Boolean)) {
    const escaped = value.replaceAll('"', '&quot;').replaceAll('\n', '\n');
    expect(page.html.replaceAll('\r\n', '\n')).toContain(escaped);
  }
  expect(await bench.balance()).toBe(1000);
});

test('is filled from a rule as text, and says a rule in words, without storing anything', async () => {
  const filled = await bench.person.post('/monitors/new', {
    name: 'kept',
    do: 'fill',
    query: 'rust AND (hiring OR job*) -game sub:-rustjerk is:post',
  });
  expect(filled.status).toBe(200);
  expect(filled.html).toContain('value="kept"');
  expect(filled.html).toMatch(/<textarea id="keywords"[^>]*>\s*rust<\/textarea/);
  expect(filled.html).toMatch(/<textarea id="require"[^>]*>\s*hiring OR job\*<\/textarea/);
  expect(filled.html).toContain('Watches posts in all communities but not in r/rustjerk');
  const refused = await bench.person.post('/monitors/new', { ...FORM, do: 'fill', query: 'rust AND <b> OR go' });
  expect(refused.status).toBe(400);
  expect(refused.html).toMatch(/id="query-problem" role="alert">AND and OR are mixed/);
  expect(refused.html).toMatch(/<pre[^>]*>rust AND &lt;b&gt; OR go\n +\^/);
  const said = await bench.person.post('/monitors/new', { ...FORM, do: 'say' });
  expect(said.html).toContain('Matches the whole word “rust” or');
  const unknown = await bench.person.post('/monitors/new', { ...FORM, do: 'say', languages: '中文' });
  expect([unknown.status, unknown.html]).toEqual([400, expect.stringMatching(/id="languages-problem"/) as string]);
  expect((await bench.api.call(bench.owner.apiKey, 'GET', '/v1/monitors')).body.used).toBe(0);
});

test('changes a monitor, keeps what was not changed, and removes what was emptied', async () => {
  const id = await bench.monitor({
    name: HOSTILE,
    keywords: ['rust'],
    terms: [{ text: 'job', prefix: true }],
    require: [['a b', { text: 'Go', case_sensitive: true }]],
    languages: ['en'],
    webhook_url: bench.receiver.url,
  });
  const shown = await bench.person.get(`/monitors/${id}/edit`);
  expect(isEscaped(shown)).toBe(true);
  expect(shown.html).toMatch(/<textarea id="require"[^>]*>\s*&quot;a b&quot; OR =Go<\/textarea/);
  const before = await bench.read(id);
  const fields = {
    name: HOSTILE,
    keywords: 'rust',
    terms: 'job*',
    require: '"a b" OR =Go',
    languages: 'en',
    posts: 'on',
    comments: 'on',
    webhook_url: bench.receiver.url,
    webhook_kind: 'generic',
  };
  const unchanged = await bench.person.post(`/monitors/${id}/edit`, fields);
  expect([unchanged.status, unchanged.location]).toEqual([303, `/dashboard/monitors/${id}?done=changed`]);
  expect(await bench.read(id)).toEqual(before);
  await bench.person.post(`/monitors/${id}/edit`, {
    ...fields,
    terms: '',
    require: '',
    languages: '',
    webhook_url: '',
  });
  const changed = await bench.read(id);
  expect(changed).toMatchObject({ keywords: ['rust'], webhook_url: null, webhook_kind: null });
  expect(Object.keys(changed)).not.toEqual(expect.arrayContaining(['terms']));
  const warned = await bench.person.post(`/monitors/${id}/edit`, {
    ...fields,
    terms: '',
    require: '',
    keywords: 'rust OR go',
  });
  expect(warned.html).toContain('The change is stored.');
  expect(warned.html).toContain('terms have no operators');
});

test('says when the account has as many monitors as it may have, and when credits are missing', async () => {
  const free = await bench.api.account({ pack: 0, credits: 100 });
  const visitor = await visitDashboard(bench.db.pool, bench.api.url, free.accountId);
  await visitor.post('/monitors/new', FORM);
  const full = await visitor.post('/monitors/new', FORM);
  expect([full.status, full.html]).toEqual([400, expect.stringContaining('role="alert"') as string]);
  const poor = await bench.api.account({ credits: 9 });
  const page = await (await visitDashboard(bench.db.pool, bench.api.url, poor.accountId)).post('/monitors/new', FORM);
  expect(page.status).toBe(400);
  expect(page.html).toContain('10 credits');
});
