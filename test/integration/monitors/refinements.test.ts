import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { ACCEPTED, CHANGES, REFUSED } from './refinements.cases.ts';

type Monitor = Record<string, unknown> & { id: string };
const FIELDS = CHANGES.map(([field]) => field);

let db: TestDatabase;
let api: TestApi;
let other: TestApi;
let owner: TestAccount;
/** No test changes it. */
let unchanged: Monitor;

beforeAll(async () => {
  db = await createTestDatabase();
  [api, other] = await Promise.all([startTestApi(db.pool), startTestApi(db.pool)]);
  owner = await api.account({ credits: 100_000, pack: 79 });
  unchanged = await created({ authors: ['ana'] });
});
afterAll(async () => {
  await api.stop();
  await other.stop();
  await db.drop();
});

const create = (body: object) =>
  api.call(owner.apiKey, 'POST', '/v1/monitors', { name: 'mine', keywords: ['rust'], ...body });
const patch = (id: string, body: object) => api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, body);
const read = async (id: string) => (await other.call(owner.apiKey, 'GET', `/v1/monitors/${id}`)).body.monitor;

async function created(body: object): Promise<Monitor> {
  const reply = await create(body);
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  return reply.body.monitor as Monitor;
}

function messageOf(reply: Reply): string {
  expect([reply.status, (reply.body.error as { code: string } | undefined)?.code]).toEqual([400, 'invalid_request']);
  return (reply.body.error as { message: string }).message;
}

async function versionsOf(id: string): Promise<number> {
  const { rows } = await db.pool.query<{ version: number; starts: number }>(
    `SELECT m.version, (SELECT count(*) FROM monitor_versions WHERE monitor_id = m.id) AS starts
     FROM monitors m WHERE id = $1`,
    [id],
  );
  expect(rows[0]!.starts).toBe(rows[0]!.version);
  return rows[0]!.version;
}

test.each(ACCEPTED)('create stores %j', async (given, shown) => {
  const monitor = await created(given);
  expect(monitor).toMatchObject({ keywords: ['rust'], ...(JSON.parse(JSON.stringify(shown)) as object) });
  for (const field of FIELDS) {
    expect([field, field in monitor, monitor[field]]).toEqual([field, shown[field] !== undefined, shown[field]]);
  }
  expect(await read(monitor.id)).toEqual(monitor);
});

test.each(REFUSED)('create and PATCH refuse %j', async (given, message) => {
  const { rows: before } = await db.pool.query('SELECT balance FROM accounts');
  expect(messageOf(await create(given))).toContain(message);
  expect((await db.pool.query('SELECT balance FROM accounts')).rows).toEqual(before);
  if (given.keywords === undefined || given.terms === undefined) {
    expect(messageOf(await patch(unchanged.id, given))).toContain(message);
  }
  expect(await read(unchanged.id)).toEqual(unchanged);
});

test('the longest rule is accepted, also when every character is escaped', async () => {
  const text = (at: number) => '漢'.repeat(97) + String(at).padStart(3, '0');
  const list = (from: number, count: number) => Array.from({ length: count }, (_, at) => text(from + at));
  const conditions = { case_sensitive: true, in: ['title', 'body', 'post_title'] };
  const names = Array.from({ length: 50 }, (_, at) => `name_of_20_letters${String(at).padStart(2, '0')}`);
  const body = {
    name: '漢'.repeat(200),
    terms: list(0, 20).map((one) => ({ text: one, ...conditions })),
    exclude: list(20, 20),
    require: [100, 200, 300, 400, 500].map((from) => list(from, 20).map((one) => ({ text: one, ...conditions }))),
    subreddits: names,
    exclude_subreddits: names,
    authors: names,
    exclude_authors: names,
  };
  const escaped = JSON.stringify(body).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const reply = await api.call(owner.apiKey, 'POST', '/v1/monitors', escaped);
  expect([reply.status, escaped.length > 90_000]).toEqual([201, true]);
  expect((reply.body.monitor as { require: unknown }).require).toEqual(body.require);
});

test.each(CHANGES)('PATCH sets, changes and removes %s, each a version of the rule', async (field, ...values) => {
  const [first, second, removals] = values;
  // thread_once decides when a match is recorded, so it starts no version.
  const step = field === 'thread_once' ? 0 : 1;
  const { id } = await created({});
  let version = 1;
  for (const removal of removals) {
    for (const value of [first, second, removal]) {
      const reply = await patch(id, { [field]: value });
      const monitor = reply.body.monitor as Monitor;
      const shown = value === removal ? undefined : value;
      expect([reply.status, field in monitor, monitor[field]]).toEqual([200, shown !== undefined, shown]);
      version += step;
      expect(await versionsOf(id)).toBe(version);
      expect((await patch(id, { [field]: value, name: 'mine' })).body.monitor).toEqual(monitor);
      expect(await versionsOf(id), 'a repeated change').toBe(version);
    }
  }
  const { rows } = await db.pool.query('SELECT refinements, thread_once FROM monitors WHERE id = $1', [id]);
  expect(rows).toEqual([{ refinements: null, thread_once: false }]);
});

test('PATCH is checked on the monitor as it is after the change', async () => {
  const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`);
  const { id } = await created({ keywords: words(15), terms: [{ text: 'hiring' }], languages: ['en'] });
  expect(messageOf(await patch(id, { keywords: words(20) }))).toContain('terms: must have at most 20 terms together');
  expect((await patch(id, { keywords: words(19) })).status).toBe(200);
  expect((await patch(id, { keywords: words(20), terms: null })).status).toBe(200);
  expect(messageOf(await patch(id, { keywords: [] }))).toContain('keywords: must have at least one term');
  const { monitor } = (await patch(id, { keywords: [], terms: [{ text: 'hiring' }] })).body;
  expect(monitor).toMatchObject({ keywords: [], languages: ['en'] });
  expect(messageOf(await patch(id, { terms: null }))).toMatch(/^keywords: must have at least one term/);
  expect((await patch(id, { keywords: ['rust'], terms: [] })).body.monitor).not.toHaveProperty('terms');
});

test('PATCHes sent to two processes at once change both fields', async () => {
  const { id } = await created({});
  const path = `/v1/monitors/${id}`;
  const replies = await Promise.all([
    api.call(owner.apiKey, 'PATCH', path, { authors: ['ana'] }),
    other.call(owner.apiKey, 'PATCH', path, { languages: ['en'] }),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  expect(await read(id)).toMatchObject({ authors: ['ana'], languages: ['en'] });
  expect(await versionsOf(id)).toBe(3);
});
