import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { VisitedPage } from '../../support/dashboard/dashboard-visitor.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { HOSTILE, isEscaped, MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';
import { itemRow } from '../../../shared/archive/archive-rows.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';
import { ageMonitor, archiveMatches } from '../../support/fixtures/archived-matches.ts';

let db: TestDatabase;
let archive: TestArchive;
let bench: MonitorPagesBench;
beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  bench = await MonitorPagesBench.create({ clickhouse: archive.client });
});
afterAll(async () => {
  await bench.drop();
  await archive.drop();
  await db.drop();
});
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
    notify: 'on',
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
    notify: 'email',
  });
});

test('mails are suggested for the first monitor of an account that mail can be sent to, and can be switched off', async () => {
  const isTicked = async (path: string) => {
    const { html } = await bench.person.get(path);
    return /<input[^>]*name="notify"[^>]*>/.exec(html)![0].includes('checked');
  };
  expect(await isTicked('/monitors/new')).toBe(true);
  const email = (address: string) =>
    bench.db.pool.query('UPDATE accounts SET email = $2 WHERE id = $1', [bench.owner.accountId, address]);
  await email('demo3@localhost');
  expect(await isTicked('/monitors/new')).toBe(false);
  await email(bench.owner.email);
  const id = idIn(await bench.person.post('/monitors/new', { ...FORM, notify: 'on' }));
  expect([await isTicked(`/monitors/${id}/edit`), await isTicked('/monitors/new')]).toEqual([true, false]);
  await bench.person.post(`/monitors/${id}/edit`, FORM);
  expect([await isTicked(`/monitors/${id}/edit`), await bench.read(id)]).toEqual([
    false,
    expect.not.objectContaining({ notify: 'email' }),
  ]);
});

test('sent twice creates and charges once', async () => {
  const { html } = await bench.person.get('/monitors/new');
  const key = /name="idempotency_key" value="(\w+)"/.exec(html)![1]!;
  expect(html).toContain('Costs 10 credits now and 10 for every further 24 hours. You have 1,000.');
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
  [{ require: 'a1 OR b1\nsub:rust' }, /id="require-problem" role="alert">“sub:rust” parentheses can only contain/],
  [{ webhook_url: 'ftp://x' }, /id="webhook_url-problem"/],
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

test('is filled from a rule as text, without storing anything', async () => {
  const filled = await bench.person.post('/monitors/new', {
    name: 'kept',
    do: 'fill',
    query: 'rust AND (hiring OR job*) -game sub:-rustjerk is:post',
  });
  expect(filled.status).toBe(200);
  expect(filled.html).toContain('value="kept"');
  expect(filled.html).toMatch(/<textarea id="keywords"[^>]*>\s*rust<\/textarea/);
  expect(filled.html).toMatch(/<textarea id="require"[^>]*>\s*hiring OR job\*<\/textarea/);
  const refused = await bench.person.post('/monitors/new', { ...FORM, do: 'fill', query: 'rust AND <b> OR go' });
  expect(refused.status).toBe(400);
  expect(refused.html).toMatch(/id="query-problem" role="alert">AND and OR are mixed/);
  expect(refused.html).toMatch(/<pre[^>]*>rust AND &lt;b&gt; OR go\n +\^/);
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
});

describe('trying a rule', () => {
  beforeAll(async () => {
    const bodies = [
      ...Array.from({ length: 30 }, (_, number) => `zinc ${number < 5 ? 'brewery' : ''} ${HOSTILE}`),
      ...Array.from({ length: 300 }, (_, number) => `nothing ${number}`),
    ];
    const values = bodies.map((body, number) => itemRow(forumItemOf(`t1_${number}`, { body, title: HOSTILE }), false));
    await archive.client.insert({ table: 'items', values, format: 'JSONEachRow' });
  });

  const ZINC = { name: 'My monitor', keywords: 'zinc', posts: 'on', comments: 'on' };

  test('a rule is tried before it is stored; a suggestion fills its field and tries again', async () => {
    const page = await bench.person.post('/monitors/new', { ...ZINC, do: 'try' });
    expect([page.status, isEscaped(page)]).toEqual([200, true]);
    expect(page.html).toContain('<strong>30 matches</strong>');
    expect(page.html).toContain('<mark>zinc</mark>');
    expect(page.html).toContain('5 of 30 matches contain “brewery”');
    const value = /name="add" value="(exclude brewery)"/.exec(page.html)?.[1] ?? '';
    const narrower = await bench.person.post('/monitors/new', { ...ZINC, exclude: 'brass', add: value });
    expect(narrower.html).toContain('<strong>25 matches</strong>');
    expect(narrower.html).toMatch(/<textarea[^>]*name="exclude"[^>]*>\s*brass\nbrewery<\/textarea>/);
    expect((await bench.api.call(bench.owner.apiKey, 'GET', '/v1/monitors')).body.items).toEqual([]);
  });

  test('trying a change stores nothing, and a faulty rule is refused beside its field', async () => {
    const id = await bench.monitor({ keywords: ['brass'] });
    const page = await bench.person.post(`/monitors/${id}/edit`, { ...ZINC, do: 'try' });
    expect(page.html).toContain('<strong>30 matches</strong>');
    expect(await bench.read(id)).toMatchObject({ keywords: ['brass'] });
    const faulty = await bench.person.post('/monitors/new', { ...ZINC, keywords: 'x', do: 'try' });
    expect(faulty.status).toBe(400);
    expect(faulty.html).toContain('“x” must have');
  });
});

describe('insights', () => {
  const HOUR = 3_600_000;

  const AT = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;

  test('the page shows counts, spikes, communities and how fast matches arrive', async () => {
    const id = await bench.monitor({ name: HOSTILE, keywords: ['rust'] });
    await ageMonitor(bench.db.pool, id, 40);
    await archiveMatches(archive.client, [
      { monitorId: id, seq: 1, count: 1_250, seenAt: AT, lagMs: 2_400, subreddit: 'metals' },
      { monitorId: id, seq: 2_000, count: 3, seenAt: AT - HOUR, lagMs: 2_400, subreddit: 'cars' },
    ]);
    const page = await bench.person.get(`/monitors/${id}/trends?interval=hour`);
    expect(page.status).toBe(200);
    expect(isEscaped(page)).toBe(true);
    const day = new Date(AT).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
    const hour = new Date(AT).toISOString().slice(11, 13);
    expect(page.html).toContain(`${day}, ${hour}:00 UTC: 1,250 matches – spike`);
    expect(page.html).toMatch(/r\/metals<\/a><\/span>\s*<span class="number">1,250</);
    expect(page.html).toContain('From seen to recorded');
  });
});
