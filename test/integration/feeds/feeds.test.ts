import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonFeed } from '../../../schemas/api/matches.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { freezeAccount, unfreezeAccount } from '../../../shared/accounts/close-account.ts';
import { blankMatchedItems, recordRemovals } from '../../../shared/crawl/crawl-cursors.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import type { CandidateSetup } from '../../support/fixtures/recorder-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let id: string;
let logged = '';

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, {
    logger: createLogger('trace', { write: (line: string) => void (logged += line) }),
  });
});
beforeEach(async () => {
  owner = await api.account();
  ({ id } = await api.monitor(owner.apiKey, { name: 'Rust & "friends"' }));
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const record = (...setups: Partial<CandidateSetup>[]) =>
  recordBatch(
    { pool: db.pool, toleranceMs: 0 },
    setups.map((setup, at) => candidateOf({ monitorId: id, thingId: `t1_${id.slice(4, 14)}${at}`, ...setup })),
  );

/** Makes the addresses of the feed, below this API. */
async function newFeed(): Promise<{ atom: string; json: string }> {
  const { status, body } = await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/feed-token`);
  expect(status).toBe(201);
  const pathOf = (url: unknown) => new URL(String(url)).pathname;
  return { atom: pathOf(body.atom_url), json: pathOf(body.json_url) };
}

const read = (path: string, headers: Record<string, string> = {}) =>
  // Otherwise `fetch` asks for a whole answer when there is a condition.
  api.call(undefined, 'GET', path, undefined, { 'cache-control': 'max-age=0', ...headers });

async function itemsOf(path: string): Promise<JsonFeed['items']> {
  const reply = await read(path);
  expect(reply.status).toBe(200);
  return (reply.body as unknown as JsonFeed).items;
}

async function isGone(path: string): Promise<boolean> {
  const { status, body } = await read(path);
  const { code, message } = body.error as { code: string; message: string };
  expect([code, message]).toEqual(['not_found', 'No such feed.']);
  return status === 404;
}

test('shows the newest 50 matches, newest first, as pages have them, in both formats, for free', async () => {
  await record(
    ...Array.from({ length: 60 }, (_, at) => ({ title: `Title ${at}`, body: `Body ${at}`, terms: ['a', 'b'] })),
  );
  const { atom, json } = await newFeed();
  const items = await itemsOf(json);
  const page = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches?order=newest&limit=50`);
  const matches = page.body.items as Record<string, string>[];
  expect(items).toEqual(
    matches.map((match) => ({
      id: match.id,
      url: match.permalink,
      title: match.title,
      summary: 'A comment in r/metals, matched by a, b',
      content_text: match.body,
      date_published: match.created_utc,
      date_modified: match.created_at,
      authors: [{ name: 'smith' }],
      tags: ['a', 'b'],
    })),
  );
  expect(items.map((item) => item.id)).toEqual(Array.from({ length: 50 }, (_, at) => matchId(id, 60 - at)));
  const { text, headers } = await read(atom);
  expect(headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
  expect(text.match(/<title>Title \d+<\/title>/g)).toEqual(items.map(({ title }) => `<title>${title}</title>`));
  expect(text).toContain('<title>Rust &amp; &quot;friends&quot;</title>');
  expect((await api.call(owner.apiKey, 'GET', '/v1/account')).body.balance).toBe(990);
});

test('leaves out suppressed matches', async () => {
  await record({ body: 'old' });
  const { json } = await newFeed();
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT monitor_id, n, thing_id || n, kind, entered_at, first_seen_at, created_at, matched_terms, true, 'none', 'none'
     FROM matches, generate_series(2, 1000) AS n WHERE monitor_id = $1`,
    [id],
  );
  expect((await itemsOf(json)).map((item) => item.content_text)).toEqual(['old']);
});

test('cuts long texts, and shows nothing of what was removed', async () => {
  const [long, gone] = [`t1_${id.slice(4, 14)}0`, `t1_${id.slice(4, 14)}1`];
  await record(
    { thingId: long, body: '😀'.repeat(4_001) },
    { thingId: gone, title: 'secret', body: 'secret', author: 'secret' },
  );
  const { atom, json } = await newFeed();
  expect((await itemsOf(json))[1]!.content_text).toBe(`${'😀'.repeat(4_000)} …`);
  const first = await read(atom);
  expect(first.text).toContain('secret');
  const at = new Date(Date.now() + 5_000).toISOString();
  await recordRemovals(db.pool, [gone], [at]);
  await blankMatchedItems(db.pool, [gone]);
  const later = await read(atom, { 'if-none-match': first.headers.get('etag')! });
  expect([later.status, later.text.includes('secret')]).toEqual([200, false]);
  expect((await itemsOf(json))[0]).toMatchObject({
    title: 'A comment in r/metals',
    content_text: '[removed]',
    authors: [],
    date_modified: at,
  });
  expect(Date.parse(later.headers.get('last-modified')!)).toBe(Math.floor(Date.parse(at) / 1_000) * 1_000);
});

describe('an address', () => {
  test('is replaced by the next one, and revoked; a revoked one can be made anew', async () => {
    const first = await newFeed();
    const second = await newFeed();
    expect(second.atom).not.toBe(first.atom);
    expect([await isGone(first.atom), await isGone(first.json)]).toEqual([true, true]);
    expect((await read(second.atom)).status).toBe(200);
    for (let times = 0; times < 2; times++) {
      const revoked = await api.call(owner.apiKey, 'DELETE', `/v1/monitors/${id}/feed-token`);
      expect([revoked.status, revoked.body]).toEqual([200, { status: 'revoked' }]);
    }
    expect([await isGone(second.atom), await isGone(second.json)]).toEqual([true, true]);
    expect((await read((await newFeed()).json)).status).toBe(200);
  });

  test('shows one monitor only, also while it is paused; it ends with the monitor', async () => {
    await record({ body: 'mine' });
    const feed = await newFeed();
    const other = await api.monitor(owner.apiKey);
    await recordBatch({ pool: db.pool, toleranceMs: 0 }, [
      candidateOf({ monitorId: other.id, thingId: 't1_other', body: 'of another monitor' }),
    ]);
    await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/pause`);
    expect((await itemsOf(feed.json)).map((item) => item.content_text)).toEqual(['mine']);
    await api.call(owner.apiKey, 'DELETE', `/v1/monitors/${id}`);
    expect([await isGone(feed.atom), await isGone(feed.json)]).toEqual([true, true]);
    expect((await db.pool.query('SELECT FROM feed_tokens WHERE monitor_id = $1', [id])).rowCount).toBe(0);
    expect((await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/feed-token`)).status).toBe(404);
  });

  test('does not work while the account is frozen, nor after it is deleted', async () => {
    const feed = await newFeed();
    await freezeAccount(db.pool, owner.accountId);
    expect(await isGone(feed.atom)).toBe(true);
    await unfreezeAccount(db.pool, owner.accountId);
    expect((await read(feed.atom)).status).toBe(200);
    await api.call(owner.apiKey, 'DELETE', '/v1/account', { email: owner.email });
    expect(await isGone(feed.atom)).toBe(true);
  });

  test.each(['feed_%00', `feed_${'0'.repeat(32)}`, `feed_${'0'.repeat(5_000)}`])(
    'unknown, no. %#, is not found',
    async (token) => {
      expect([await isGone(`/feeds/${token}.atom`), await isGone(`/feeds/${token}.json`)]).toEqual([true, true]);
    },
  );

  test('is neither stored nor logged nor counted as it is', async () => {
    logged = '';
    const { atom, json } = await newFeed();
    const token = /feed_\w+/.exec(atom)![0];
    const secret = token.slice('feed_'.length);
    await read(atom);
    await read(json.toUpperCase().replace('/FEEDS', '/feeds'));
    for (const wrong of [
      `/feeds/${token}`,
      `/feeds/${token}.rss`,
      `/x/${token}`,
      `/feeds/a/${secret}`,
      `/feeds%2f${secret}`,
    ]) {
      expect((await read(wrong)).status).toBe(404);
    }
    expect((await api.call(undefined, 'PUT', atom)).status).toBe(405);
    expect(logged).toContain('"path":"/feeds/…"');
    expect(logged.toLowerCase()).not.toContain(secret);
    expect(await api.metrics.registry.metrics()).not.toContain(secret);
    expect(await api.metrics.registry.metrics()).toContain('route="/feeds/:token.atom"');
    const stored = await db.pool.query<{ row: string }>(
      'SELECT t::text AS row FROM feed_tokens t UNION ALL SELECT u::text FROM recent_uses u',
    );
    expect(stored.rows.map(({ row }) => row).join()).not.toContain(secret);
  });
});

test('is answered 304 until it changes, by ETag and by date', async () => {
  await record({});
  const { atom, json } = await newFeed();
  for (const path of [atom, json]) {
    const first = await read(path);
    expect(first.headers.get('cache-control')).toBe('private, max-age=60');
    const conditions: Record<string, string>[] = [
      { 'if-none-match': first.headers.get('etag')! },
      { 'if-modified-since': first.headers.get('last-modified')! },
      { 'if-none-match': first.headers.get('etag')!, 'if-modified-since': new Date(0).toUTCString() },
    ];
    for (const condition of conditions) {
      const again = await read(path, condition);
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', first.headers.get('etag')]);
    }
    expect((await api.call(undefined, 'HEAD', path)).headers.get('etag')).toBe(first.headers.get('etag'));
    expect((await read(path, { 'if-none-match': '"another"' })).status).toBe(200);
  }
  const before = await read(json);
  await db.setShift('1 minute');
  await record({ thingId: 't1_more' });
  await db.setShift('0');
  for (const name of ['if-none-match', 'if-modified-since']) {
    const value = before.headers.get(name === 'if-none-match' ? 'etag' : 'last-modified')!;
    expect((await read(json, { [name]: value })).status).toBe(200);
  }
});

test('can be read 30 times a minute, whatever the format, and refuses parameters', async () => {
  const { atom, json } = await newFeed();
  const refused = await read(`${json}?x=1`);
  expect([refused.status, refused.body.error]).toMatchObject([400, { message: 'x: is not recognized' }]);
  const replies: Reply[] = [];
  for (let times = 0; times < 31; times++) replies.push(await read(times % 2 === 0 ? atom : json));
  expect(replies.map(({ status }) => status)).toEqual([...Array<number>(30).fill(200), 429]);
  expect(replies.at(-1)!.body.error).toMatchObject({ code: 'rate_limited' });
  expect(Number(replies.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0);
  await db.setShift('61 seconds');
  expect((await read(atom)).status).toBe(200);
  await db.setShift('0');
});
