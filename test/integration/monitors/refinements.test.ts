import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readActiveRules, readRulesById } from '../../../shared/stores/monitors/monitor-rules.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { ACCEPTED, CHANGES, REFUSED } from './refinements.cases.ts';

const FIELDS = CHANGES.map(([field]) => field);

let db: TestDatabase;
let api: TestApi;
let other: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  [api, other] = await Promise.all([startTestApi(db.pool), startTestApi(db.pool)]);
  owner = await api.account({ credits: 100_000 });
});
afterAll(async () => {
  await api.stop();
  await other.stop();
  await db.drop();
});

const create = (body: object) =>
  api.call(owner.apiKey, 'POST', '/v1/monitors', { name: 'mine', keywords: ['rust'], ...body });
const patch = (id: string, body: object) => api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, body);

async function created(body: object): Promise<Record<string, unknown> & { id: string }> {
  const reply = await create(body);
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  const monitor = reply.body.monitor as Record<string, unknown> & { id: string };
  return monitor;
}

async function remove(id: string): Promise<void> {
  await api.call(owner.apiKey, 'DELETE', `/v1/monitors/${id}`);
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

describe('POST', () => {
  test.each(ACCEPTED)('stores %j', async (given, shown) => {
    const monitor = await created(given);
    const conditions = Object.fromEntries(FIELDS.map((field) => [field, shown[field]]));
    expect(monitor).toMatchObject({ keywords: ['rust'], ...JSON.parse(JSON.stringify(shown)) });
    for (const [field, value] of Object.entries(conditions)) {
      expect([field, field in monitor, monitor[field]]).toEqual([field, value !== undefined, value]);
    }
    const read = await other.call(owner.apiKey, 'GET', `/v1/monitors/${monitor.id}`);
    expect(read.body.monitor).toEqual(monitor);
    await remove(monitor.id);
  });

  test.each(REFUSED)('refuses %j', async (given, message) => {
    const { rows: before } = await db.pool.query('SELECT balance FROM accounts');
    expect(messageOf(await create(given))).toContain(message);
    expect((await db.pool.query('SELECT balance FROM accounts')).rows).toEqual(before);
  });

  test('names faults of old and new fields together', async () => {
    const body = { keywords: ['x'], exclude: [' '], authors: ['?'], require: [['']] };
    expect(messageOf(await create(body)).match(/(?<=^|; )[^:]+(?=: )/g)).toEqual([
      'keywords[0]',
      'exclude[0]',
      'require[0][0]',
      'authors[0]',
    ]);
  });

  test('with the longest rule is accepted, also when every character is escaped', async () => {
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
    await remove((reply.body.monitor as { id: string }).id);
  });

  test('repeated with its Idempotency-Key creates one monitor and answers the same', async () => {
    const body = { name: 'once', terms: [{ text: 'hiring', prefix: true }], languages: ['en'] };
    const key = { 'idempotency-key': 'refined' };
    const replies = [
      await api.call(owner.apiKey, 'POST', '/v1/monitors', body, key),
      await other.call(owner.apiKey, 'POST', '/v1/monitors', body, key),
    ];
    expect(replies[1]!.text).toBe(replies[0]!.text);
    const changed = await api.call(owner.apiKey, 'POST', '/v1/monitors', { ...body, languages: ['de'] }, key);
    expect(changed.status).toBe(409);
    await remove((replies[0]!.body.monitor as { id: string }).id);
  });
});

describe('PATCH', () => {
  test.each(CHANGES)(
    'sets, changes and removes %s, each a version of the rule',
    async (field, first, second, removals) => {
      // thread_once decides when a match is recorded, so it starts no version.
      const step = field === 'thread_once' ? 0 : 1;
      const { id } = await created({});
      let version = 1;
      for (const removal of removals) {
        for (const value of [first, second, removal]) {
          const reply = await patch(id, { [field]: value });
          const monitor = reply.body.monitor as Record<string, unknown>;
          const isRemoved = value === removal;
          expect([reply.status, field in monitor, monitor[field]]).toEqual([
            200,
            !isRemoved,
            isRemoved ? undefined : value,
          ]);
          version += step;
          expect(await versionsOf(id)).toBe(version);
          expect((await patch(id, { [field]: value, name: 'mine' })).body.monitor).toEqual(monitor);
          expect(await versionsOf(id), 'a repeated change').toBe(version);
        }
      }
      const { rows } = await db.pool.query('SELECT refinements, thread_once FROM monitors WHERE id = $1', [id]);
      expect(rows).toEqual([{ refinements: null, thread_once: false }]);
      await remove(id);
    },
  );

  test.each(CHANGES)('of another field keeps %s', async (field, first) => {
    const monitor = await created({ [field]: first });
    const { body } = await patch(monitor.id, {
      exclude: ['game'],
      match_in: field === 'match_in' ? undefined : ['body'],
    });
    expect((body.monitor as Record<string, unknown>)[field]).toEqual(first);
    await remove(monitor.id);
  });

  test.each(REFUSED.filter(([given]) => !('keywords' in given)))(
    'refuses %j and changes nothing',
    async (given, message) => {
      const monitor = await created({ authors: ['ana'] });
      expect(messageOf(await patch(monitor.id, given))).toContain(message);
      expect((await api.call(owner.apiKey, 'GET', `/v1/monitors/${monitor.id}`)).body.monitor).toEqual(monitor);
      await remove(monitor.id);
    },
  );

  test('is judged by the monitor as it is after the change', async () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`);
    const { id } = await created({ keywords: words(15), terms: [{ text: 'hiring' }] });
    expect(messageOf(await patch(id, { keywords: words(20) }))).toBe(
      'terms: must have at most 20 terms together with keywords',
    );
    expect((await patch(id, { keywords: words(19) })).status).toBe(200);
    expect((await patch(id, { keywords: words(20), terms: null })).status).toBe(200);
    expect(messageOf(await patch(id, { keywords: [] }))).toBe('keywords: must have at least one term');
    expect((await patch(id, { keywords: [], terms: [{ text: 'hiring' }] })).body.monitor).toMatchObject({
      keywords: [],
    });
    expect((await patch(id, { keywords: [] })).status).toBe(200);
    expect(messageOf(await patch(id, { terms: null }))).toMatch(/^keywords: must have at least one term/);
    expect(messageOf(await patch(id, { keywords: [], terms: [] }))).toMatch(
      /^keywords: must have at least one term, or/,
    );
    expect((await patch(id, { keywords: ['rust'], terms: [] })).body.monitor).not.toHaveProperty('terms');
    await remove(id);
  });

  test('sent to two processes at once changes both fields', async () => {
    const { id } = await created({});
    const path = `/v1/monitors/${id}`;
    const replies = await Promise.all([
      api.call(owner.apiKey, 'PATCH', path, { authors: ['ana'] }),
      other.call(owner.apiKey, 'PATCH', path, { languages: ['en'] }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    const { body } = await other.call(owner.apiKey, 'GET', path);
    expect(body.monitor).toMatchObject({ authors: ['ana'], languages: ['en'] });
    expect(await versionsOf(id)).toBe(3);
    await remove(id);
  });
});

test('matchers read a rule with its conditions, and a plain rule without any', async () => {
  const plain = await created({ exclude: ['game'] });
  const refined = await created({
    terms: [{ text: 'IT', case_sensitive: true }],
    match_in: ['title'],
    thread_once: true,
  });
  const rule = { exclude: [], subreddits: [], posts: true, comments: true, nsfw: false, keywords: ['rust'] };
  const expected = new Map<string, object>([
    [plain.id, { ...rule, exclude: ['game'] }],
    [refined.id, { ...rule, terms: [{ text: 'IT', caseSensitive: true }], matchIn: ['title'] }],
  ]);
  const active = (await readActiveRules(db.pool, '', 1_000, 1e6)).filter(({ id }) => expected.has(id));
  const { monitors: named } = await readRulesById(db.pool, [plain.id, refined.id], 1e6);
  for (const rules of [active, named]) {
    expect(new Map(rules.map((found) => [found.id, found.rule]))).toEqual(expected);
  }
  // The members of a plain rule are in their old order, so that its JSON is the same.
  expect(JSON.stringify(active.find(({ id }) => id === plain.id)!.rule)).toBe(
    '{"keywords":["rust"],"exclude":["game"],"subreddits":[],"posts":true,"comments":true,"nsfw":false}',
  );
});
