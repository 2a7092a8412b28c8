import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEYS_PER_ACCOUNT } from '../../../shared/stores/accounts/idempotency-keys.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

const BODY = { name: 'a monitor', keywords: ['rust'] };
const create = ({ apiKey }: TestAccount, key: string, body: unknown = BODY): Promise<Reply> =>
  api.call(apiKey, 'POST', '/v1/monitors', body, { 'idempotency-key': key });
const resume = ({ apiKey }: TestAccount, id: string): Promise<Reply> =>
  api.call(apiKey, 'POST', `/v1/monitors/${id}/resume`, undefined, { 'idempotency-key': 'r' });
const codeOf = ({ body }: Reply) => (body.error as { code: string } | undefined)?.code;
const ledgerOf = async ({ apiKey }: TestAccount) =>
  ((await api.call(apiKey, 'GET', '/v1/account/ledger')).body.items as { kind: string }[]).map(({ kind }) => kind);

test('a repeated create gets the first answer, including the secret, and is free', async () => {
  const account = await api.account({ credits: 100 });
  const first = await create(account, 'one');
  const again = await create(account, 'one');
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
    null,
    'true',
  ]);
  expect([first.headers.get('x-credits-used'), again.headers.get('x-credits-used')]).toEqual(['10', '0']);
  expect(again.headers.get('x-credits-remaining')).toBe('90');
  expect(await ledgerOf(account)).toEqual(['monitor_create', 'grant']);
  expect((await create(account, 'two')).body).not.toEqual(first.body);
});

test('20 concurrent creates with one key make one monitor and get equal answers, also when the plan allows one monitor', async () => {
  const account = await api.account({ credits: 100, pack: 0 });
  const replies = await Promise.all(Array.from({ length: 20 }, () => create(account, 'race')));
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(replies[0]!.status).toBe(201);
  expect(replies.filter(({ headers }) => headers.get('x-credits-used') === '10')).toHaveLength(1);
  expect(await ledgerOf(account)).toEqual(['monitor_create', 'grant']);
});

test('another body is a conflict; another account, route or day is another request', async () => {
  const account = await api.account();
  const first = await create(account, 'k');
  const conflict = await create(account, 'k', { ...BODY, name: 'another' });
  expect([conflict.status, codeOf(conflict)]).toEqual([409, 'idempotency_conflict']);
  const stranger = await create(await api.account(), 'k');
  expect([stranger.status, stranger.headers.get('idempotency-replayed')]).toEqual([201, null]);
  expect((stranger.body.monitor as { id: string }).id).not.toBe((first.body.monitor as { id: string }).id);
  await db.setShift('24 hours');
  const later = await create(account, 'k', { ...BODY, name: 'another' });
  await db.setShift('0');
  expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([201, null]);
});

test('an account with very many keys waits until the oldest ends; a repeat is still answered', async () => {
  const account = await api.account({ credits: 100 });
  const first = await create(account, 'first');
  await db.pool.query(
    `INSERT INTO idempotency_keys (account_id, route, key, body_hash, answer, created_at)
       SELECT $1, 'r', n, '', '', service_now() + n * interval '1 second' FROM generate_series(1, $2::int) AS n`,
    [account.accountId, KEYS_PER_ACCOUNT - 1],
  );
  const refused = await create(account, 'one-too-many');
  expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
  expect((await create(account, 'first')).body).toEqual(first.body);
  expect((await api.call(account.apiKey, 'POST', '/v1/monitors', BODY)).status).toBe(201);
  await db.pool.query('DELETE FROM idempotency_keys WHERE account_id = $1 AND key = $2', [account.accountId, '1']);
  expect((await create(account, 'one-too-many')).status).toBe(201);
});

test('refusals are not stored: the same request may be sent again', async () => {
  const account = await api.account({ credits: 5 });
  expect(codeOf(await create(account, 'k'))).toBe('insufficient_credits');
  await db.pool.query(`UPDATE accounts SET balance = 50 WHERE id = $1`, [account.accountId]);
  expect((await create(account, 'k')).status).toBe(201);
  expect(codeOf(await create(account, 'bad', { name: '' }))).toBe('invalid_request');
  expect((await create(account, 'bad')).status).toBe(201);
});

test('repeated resumes with one key pay for one period', async () => {
  const account = await api.account({ credits: 100 });
  const { id } = await api.monitor(account.apiKey);
  await api.call(account.apiKey, 'POST', `/v1/monitors/${id}/pause`);
  const first = await resume(account, id);
  await api.call(account.apiKey, 'POST', `/v1/monitors/${id}/pause`);
  const again = await resume(account, id);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect([first.headers.get('x-credits-used'), again.headers.get('x-credits-used')]).toEqual(['10', '0']);
  const { body } = await api.call(account.apiKey, 'GET', `/v1/monitors/${id}`);
  expect(body.monitor).toMatchObject({ status: 'paused' });
  expect(await ledgerOf(account)).toEqual(['monitor_resume', 'monitor_create', 'grant']);
});

test.each(['', ' ', 'a b', 'x'.repeat(256), 'ü'])('refuses the key %j', async (key) => {
  const account = await api.account();
  const reply = await create(account, key);
  expect([reply.status, (reply.body.error as { message: string }).message]).toEqual([
    400,
    expect.stringMatching('^Idempotency-Key: must') as string,
  ]);
  expect(await ledgerOf(account)).toEqual(['grant']);
});

test('stored answers cannot be read in the database', async () => {
  const account = await api.account();
  const { body } = await create(account, 'sealed');
  const { rows } = await db.pool.query<{ text: string }>(
    `SELECT encode(answer, 'escape') AS text FROM idempotency_keys WHERE account_id = $1`,
    [account.accountId],
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]!.text).not.toContain((body.webhook_secret as string).slice(6));
  expect(rows[0]!.text).not.toContain('rust');
});

test.each([
  ['a NUL', '%00'],
  ['a NUL in it', 'mon_%00'],
  ['a picture', '%F0%9F%92%A9'],
  ['18,000 letters', randomBytes(9_000).toString('hex')],
])('returns 404 for the resume of a monitor whose id is %s', async (_what, id) => {
  const account = await api.account();
  const reply = await resume(account, id);
  expect([reply.status, codeOf(reply)]).toEqual([404, 'not_found']);
});

test('a body with other whitespace or member order counts as equal; one with another list order does not', async () => {
  const account = await api.account();
  const first = await create(account, 'k', '{"name":"n","keywords":["rust","go"]}');
  const again = await create(account, 'k', '{ "keywords": ["rust", "go"],\n "name": "n" }');
  expect([again.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([201, 'true', first.text]);
  const other = await create(account, 'k', '{"name":"n","keywords":["go","rust"]}');
  expect(codeOf(other)).toBe('idempotency_conflict');
  const proto = await create(account, 'k', '{"__proto__":{},"name":"n","keywords":["rust","go"]}');
  expect(codeOf(proto)).toBe('idempotency_conflict');
});

test('a repeat for a monitor deleted since gets the first answer and is free', async () => {
  const account = await api.account({ credits: 20 });
  const first = await create(account, 'k', { name: 'n', keywords: ['rust'] });
  const { id } = first.body.monitor as { id: string };
  await api.call(account.apiKey, 'DELETE', `/v1/monitors/${id}`);
  expect((await create(account, 'k', { name: 'n', keywords: ['rust'] })).text).toBe(first.text);
  expect(codeOf(await resume(account, id))).toBe('not_found');
  expect(await ledgerOf(account)).toEqual(['monitor_create', 'grant']);
});
