import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { csrfTokenOf } from '../../../services/api/dashboard/sessions.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { EventStreamParser } from '../../support/clients/event-stream-parser.ts';
import type { VisitedPage } from '../../support/dashboard/dashboard-visitor.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
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
  expect([await isTicked(`/monitors/${id}/webhook`), await isTicked('/monitors/new')]).toEqual([true, false]);
  await bench.person.post(`/monitors/${id}/webhook`, { webhook_url: '' });
  expect([await isTicked(`/monitors/${id}/webhook`), await bench.read(id)]).toEqual([
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
  [{ keywords: 'x\nrust' }, /id="keywords-problem" role="alert">“x” must have 2 to 100 characters.*?\.</],
  [{ keywords: '' }, /id="keywords-problem" role="alert">Enter at least one keyword\.</],
  [{ require: 'a1 OR b1\nsub:rust' }, /id="require-problem" role="alert">“sub:rust” parentheses can only contain/],
  [{ webhook_url: 'ftp://x' }, /id="webhook_url-problem" role="alert">Enter a URL that begins with https:/],
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

test('a new monitor without a name is called by its first keyword', async () => {
  const read = async (fields: Record<string, string>) =>
    (await bench.read(idIn(await bench.person.post('/monitors/new', { ...FORM, name: '', ...fields })))).name;
  expect(await read({ keywords: '\r\n"borrow checker"\r\nrust' })).toBe('borrow checker');
  expect(await read({ keywords: '', terms: '=Go' })).toBe('=Go');
});

test.each(['brand', 'hiring', 'comparison', 'questions'])('the example %s is a rule without warnings', async (name) => {
  const page = await bench.person.get(`/monitors/new?example=${name}`);
  expect(page.html).toContain(`href="/dashboard/monitors/new?example=${name}" aria-current="true"`);
  const fields = Object.fromEntries(
    [...page.html.matchAll(/<textarea\s[^>]*name="(\w+)"[^>]*>\n([^<]*)<\/textarea>/g)].map(([, field, text]) => [
      field!,
      text!.replaceAll('&quot;', '"'),
    ]),
  );
  expect(page.html).toContain('In words');
  const created = await bench.person.post('/monitors/new', { ...FORM, ...fields });
  expect(created.html).not.toContain('This may not do what you mean');
  expect(await bench.read(idIn(created))).toMatchObject({ status: 'active' });
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

  const AS_EVENTS = { accept: 'text/event-stream' };
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
    await bench.person.post(`/monitors/${id}/mutes`, { kind: 'author', value: 'somebody' });
    const muting = await bench.person.post(`/monitors/${id}/edit`, { ...ZINC, do: 'try' });
    expect(muting.html).toContain('<strong>30 matches</strong> before its mutes since');
    const [, path = ''] = /data-try="\/dashboard([^"]+)"/.exec(muting.html) ?? [];
    expect((await bench.person.post(path, ZINC, AS_EVENTS)).html).toContain('before its mutes since');
    const faulty = await bench.person.post('/monitors/new', { ...ZINC, keywords: 'x', do: 'try' });
    expect(faulty.status).toBe(400);
    expect(faulty.html).toContain('“x” must have');
  });

  /** The panel as the script of the form gets it. */
  interface PanelEvent {
    markup: string;
    problems: Record<string, string>;
    again?: number;
    isLast: boolean;
  }
  const typed = async (fields: Record<string, string>, person = bench.person): Promise<PanelEvent[]> => {
    const answer = await person.post('/monitors/try', fields, AS_EVENTS);
    expect(answer.status).toBe(200);
    const parser = new EventStreamParser();
    parser.push(new TextEncoder().encode(answer.html));
    return parser.events.map(({ data }) => JSON.parse(data) as PanelEvent);
  };
  const partOf = (markup: string, id: string): string =>
    new RegExp(`<div id="${id}">[^]*?\\n\\s*</div>\\s*(?=<div id|</section|$)`)
      .exec(markup)![0]
      .replace(/\s+/g, ' ')
      .trim();

  test('while it is typed, a rule is said in words at once, then counted, in the same panel as on the page', async () => {
    const [first, ...others] = await typed({ ...ZINC, exclude: 'trust "fund' });
    expect(first).toMatchObject({ isLast: false, problems: {} });
    expect(first!.markup).toContain('Searching…');
    expect(first!.markup).toContain('the whole word “zinc”');
    expect(first!.markup).toContain('AND NOT');
    expect(first!.markup).not.toContain('try-found');
    const last = others.at(-1)!;
    expect(last).toMatchObject({ isLast: true, problems: {} });
    expect(last.markup).toContain('<strong>30 matches</strong>');
    const page = await bench.person.post('/monitors/new', { ...ZINC, exclude: 'trust "fund', do: 'try' });
    const onPage = page.html.replaceAll(' formaction="/dashboard/monitors/new#preview"', ' ');
    for (const part of ['try-rule', 'try-found']) expect(partOf(last.markup, part)).toBe(partOf(onPage, part));
    expect((await bench.api.call(bench.owner.apiKey, 'GET', '/v1/monitors')).body.used).toBe(0);
  });

  test('an incomplete rule is reported, and the archive is not read', async () => {
    const empty = await typed({ posts: 'on', comments: 'on' });
    expect(empty).toEqual([
      { markup: expect.stringContaining('Type a keyword') as string, problems: {}, isLast: true },
    ]);
    const [state, ...more] = await typed({ ...ZINC, keywords: `zinc\n${HOSTILE}\nx`, require: 'a OR' });
    expect(more).toEqual([]);
    expect(state).toMatchObject({ isLast: true, problems: { require: expect.any(String) as string } });
    expect(state!.markup).toContain('<a href="#require">“a OR”');
  });

  test.each([
    ['markup', HOSTILE],
    ['a NUL', 'zi\0nc'],
    ['half a character', 'zinc \uD800'],
    ['100 kB', 'x'.repeat(100_000)],
    ['50,000 lines', 'ab\n'.repeat(50_000)],
  ])('%s in any field is answered in words and stays text', async (_what, hostile) => {
    for (const name of ['keywords', 'terms', 'require', 'subreddits', 'authors', 'languages', 'match_in']) {
      const states = await typed({ ...ZINC, [name]: hostile });
      const { markup, isLast } = states.at(-1)!;
      expect([isLast, isEscaped({ html: markup } as VisitedPage)]).toEqual([true, true]);
      expect(markup.length).toBeLessThan(100_000);
    }
    const tooMuch = { ...ZINC, keywords: hostile, exclude: 'y'.repeat(100_000), authors: 'z'.repeat(100_000) };
    const refused = await bench.person.post('/monitors/try', tooMuch, AS_EVENTS);
    if (hostile.length < 100_000) expect(refused.status).toBe(200);
    else expect([refused.status, refused.html]).toEqual([413, expect.stringContaining('"message"') as string]);
  });

  test('typing has limits of its own: 30 counts and 120 changes a minute', async () => {
    const { person, owner } = bench;
    const uses = async () => {
      const { rows } = await bench.db.pool.query<{ name: string; uses: number }>(
        `SELECT name, cardinality(times) AS uses FROM recent_uses WHERE name LIKE '%' || $1 OR name LIKE '%' || $2`,
        [owner.accountId, person.sessionId],
      );
      return Object.fromEntries(rows.map(({ name, uses: count }) => [name.split(':')[0]!, count]));
    };
    const useUp = (name: string, count: number) =>
      bench.db.pool.query(
        `UPDATE recent_uses SET times = array_fill(service_now(), ARRAY[$2::int]) WHERE name LIKE $1 || ':%'`,
        [name, count],
      );
    await typed(ZINC);
    expect(await uses()).toEqual({ 'dashboard-try': 1, 'typed-preview': 1, 'typed-previews': 1 });
    await useUp('typed-preview', 29);
    expect((await typed(ZINC)).at(-1)!.markup).toContain('<strong>30 matches</strong>');
    const uncounted = (await typed(ZINC)).at(-1)!;
    expect(uncounted.markup).toContain('Too many previews: the limits are 30 a minute and 1,000 in 24 hours.');
    expect(uncounted.markup).toContain('the whole word “zinc”');
    expect(uncounted.again).toBeGreaterThan(0);
    await useUp('dashboard-try', 119);
    expect((await person.post('/monitors/try', ZINC, AS_EVENTS)).status).toBe(200);
    const refused = await person.post('/monitors/try', ZINC, AS_EVENTS);
    expect([refused.status, refused.html]).toEqual([
      429,
      expect.stringMatching(/120 changes.*"retry_after"/) as string,
    ]);
    expect((await person.get('/monitors/new')).status).toBe(200);
    const preview = { settings: { keywords: ['zinc'] } };
    expect((await bench.api.call(owner.apiKey, 'POST', '/v1/monitors/preview', preview)).status).toBe(200);
  });

  test('two windows wait for each other', async () => {
    const states = await Promise.all(Array.from({ length: 4 }, () => typed(ZINC)));
    expect(states.map((all) => all.at(-1)!.markup.includes('<strong>30 matches</strong>'))).toEqual(
      Array(4).fill(true),
    );
  });
});

describe('trying a rule while the archive does not respond', () => {
  let still: MonitorPagesBench;
  let proxy: TcpProxy;
  let client: ClickHouseClient;
  beforeAll(async () => {
    proxy = await TcpProxy.start(archive.url);
    client = createClickhouse(proxy.url, 'test');
    still = await MonitorPagesBench.create({ clickhouse: client });
    await still.reset();
    proxy.freeze();
  });
  afterAll(async () => {
    await still.drop();
    await client.close();
    await proxy.stop();
  });

  const TYPED = { name: '', keywords: 'zinc', posts: 'on', comments: 'on' };

  test('the rule is said in words at once, then why there are no counts, and the form works', async () => {
    const answer = await still.person.post('/monitors/try', TYPED, { accept: 'text/event-stream' });
    expect(answer.html).toContain('the whole word “zinc”');
    expect(answer.html).toMatch(/The archive does not respond.*"again":5/);
    const page = await still.person.post('/monitors/new', { ...TYPED, do: 'try' });
    expect([page.status, page.html]).toEqual([200, expect.stringContaining('The archive does not respond') as string]);
    const created = await still.person.post('/monitors/new', TYPED);
    expect(await still.read(idIn(created))).toMatchObject({ name: 'zinc', status: 'active' });
  });

  test('a window that is closed frees its place at once', async () => {
    for (let n = 0; n < 6; n++) {
      const body = new URLSearchParams({ ...TYPED, form_token: csrfTokenOf(still.person.token) });
      const headers = { cookie: still.person.cookie, accept: 'text/event-stream' };
      const window = new AbortController();
      const { signal } = window;
      const answer = await fetch(`${still.api.url}/dashboard/monitors/try`, { method: 'POST', headers, body, signal });
      expect(answer.status).toBe(200);
      const first = await answer.body!.pipeThrough(new TextDecoderStream()).getReader().read();
      expect(first.value).toContain('Searching…');
      window.abort();
    }
    const asked = performance.now();
    const key = { settings: { keywords: ['zinc'] } };
    await eventually('a free place', async () => {
      const { status } = await still.api.call(still.owner.apiKey, 'POST', '/v1/monitors/preview', key);
      return status === 503 || undefined;
    });
    expect(performance.now() - asked).toBeLessThan(7_000);
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
    expect(page.html).toMatch(/r\/metals<\/a><\/span>\s*<span class="number"\s*>1,250</);
    expect(page.html).toContain('From seen to recorded');
  });
});
