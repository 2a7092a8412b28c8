import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ReadingCharges } from '../../../services/api/reading/reading-charge.ts';
import { hashApiKey } from '../../../shared/domain/accounts/api-key.ts';
import { allPlans } from '../../../shared/domain/accounts/plans.ts';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { freezeAccount, unfreezeAccount } from '../../../shared/stores/accounts/freeze-account.ts';
import { admitRequests } from '../../../shared/stores/accounts/request-limits.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let planned: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  planned = await startTestApi(db.pool, { limits: 'plans' });
});

afterAll(async () => {
  await api.stop();
  await planned.stop();
  await db.drop();
});

const codeOf = ({ body }: Reply) => (body.error as { code: string } | undefined)?.code;
const asked = ({ apiKey }: TestAccount) => ({ keyId: apiKey.slice(3, 11), keyHash: hashApiKey(apiKey) });

async function ledgerOf(accountId: string): Promise<number[]> {
  const { rows } = await db.pool.query<{ amount: number }>(
    'SELECT amount FROM ledger_entries WHERE account_id = $1 ORDER BY id',
    [accountId],
  );
  return rows.map(({ amount }) => amount);
}

/** Resolves when this many statements of the database wait for a lock. */
async function waiting(count: number): Promise<void> {
  await eventually(`${count} statements wait for locks`, async () => {
    const { rows } = await db.pool.query<{ count: number }>(
      `SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]!.count >= count;
  });
}

test.each(['/v1/FORUM/search?q=x', '/v1/Forum/subreddits', '/V1/foruM/user?name=abc'])(
  'refuses %s for a key without the permission to read, in any spelling',
  async (path) => {
    const account = await api.account();
    await db.pool.query(`UPDATE api_keys SET scopes = '{}' WHERE account_id = $1`, [account.accountId]);
    const response = await fetch(api.url + path, { headers: { 'x-api-key': account.apiKey } });
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      403,
      'insufficient_scope',
    ]);
  },
);

test('an account frozen during a read does not get the read for free', async () => {
  const charges = new ReadingCharges(db.pool);
  const { accountId } = await api.account({ credits: 2 });
  const caller = { keyId: 'k', accountId, scopes: [], balance: 2, pack: 79 };
  const request = { requestId: 'r', route: 'GET /v1/forum/post', keyId: 'k' };
  await freezeAccount(db.pool, accountId);
  await expect(charges.chargeCovered(caller, 2, request)).rejects.toThrow();
  await expect(charges.chargeCovered(caller, 5, request)).rejects.toThrow();
  await expect(charges.charge(caller, 1, request)).rejects.toThrow();
  await unfreezeAccount(db.pool, accountId);
  expect(await charges.chargeCovered(caller, 5, request)).toEqual({ credits: 2, balance: 0 });
  expect(await ledgerOf(accountId)).toEqual([2, -2]);
});

describe('Idempotency-Key', () => {
  const send = ({ apiKey }: TestAccount, path: string, body: unknown, key = 'k') =>
    api.call(apiKey, 'POST', path, body, { 'idempotency-key': key });

  test.each([
    ['a NUL', '%00'],
    ['a NUL in it', 'mon_%00'],
    ['a picture', '%F0%9F%92%A9'],
    ['18,000 letters', randomBytes(9_000).toString('hex')],
  ])('returns 404 for the resume of a monitor whose id is %s', async (_what, id) => {
    const account = await api.account();
    const reply = await send(account, `/v1/monitors/${id}/resume`, undefined);
    expect([reply.status, codeOf(reply)]).toEqual([404, 'not_found']);
  });

  test('a body with other whitespace or member order counts as equal; one with another list order does not', async () => {
    const account = await api.account();
    const first = await send(account, '/v1/monitors', '{"name":"n","keywords":["rust","go"]}');
    const again = await send(account, '/v1/monitors', '{ "keywords": ["rust", "go"],\n "name": "n" }');
    expect([again.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([201, 'true', first.text]);
    const other = await send(account, '/v1/monitors', '{"name":"n","keywords":["go","rust"]}');
    expect(codeOf(other)).toBe('idempotency_conflict');
    const proto = await send(account, '/v1/monitors', '{"__proto__":{},"name":"n","keywords":["rust","go"]}');
    expect(codeOf(proto)).toBe('idempotency_conflict');
  });

  test('a repeat for a monitor deleted since gets the first answer and is free', async () => {
    const account = await api.account({ credits: 20 });
    const first = await send(account, '/v1/monitors', { name: 'n', keywords: ['rust'] });
    const { id } = first.body.monitor as { id: string };
    await api.call(account.apiKey, 'DELETE', `/v1/monitors/${id}`);
    expect((await send(account, '/v1/monitors', { name: 'n', keywords: ['rust'] })).text).toBe(first.text);
    expect(codeOf(await send(account, `/v1/monitors/${id}/resume`, undefined))).toBe('not_found');
    expect(await ledgerOf(account.accountId)).toEqual([20, -10]);
  });
});

describe('a clock that jumps back', () => {
  afterEach(() => db.pool.query('UPDATE service_clock SET frozen_at = NULL'));

  test.each(['1 hour', '60 days', '3 years'])('by %s blocks nobody for long and breaks nothing', async (far) => {
    const [free, paid] = [await planned.account({ pack: 0 }), await planned.account({ pack: 9 })];
    await db.freeze();
    await db.freeze(far);
    await admitRequests(db.pool, [asked(free), ...Array.from({ length: 10 }, () => asked(paid))], allPlans());
    await db.freeze(`-${far}`);
    const ask = () => Promise.all([free, paid].map(({ apiKey }) => planned.call(apiKey, 'GET', '/v1/account')));
    expect((await ask()).map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, '1'],
      [200, null],
    ]);
    await db.freeze('1 second');
    expect((await ask()).map(({ status }) => status)).toEqual([200, 200]);
  });
});

test('deleting an account does not deadlock with requests that use several of its keys', async () => {
  // Enough keys that Postgres looks up each by its id, in the order of the requests.
  const { accountId: many } = await api.account();
  await db.pool.query(
    `INSERT INTO api_keys (id, account_id, name, hash)
     SELECT 'many' || n, $1, '', sha256(n::text::bytea) FROM generate_series(1, 20000) AS n`,
    [many],
  );
  await db.pool.query('ANALYZE api_keys');
  for (const [first, reversed] of [
    [0, false],
    [0, true],
    [1, false],
    [1, true],
  ] as const) {
    const account = await api.account();
    const made = await api.call(account.apiKey, 'POST', '/v1/account/keys', { name: 'second' });
    const keys = [account, { ...account, apiKey: made.body.api_key as string }];
    await db.pool.query('UPDATE api_keys SET last_used_at = NULL WHERE account_id = $1', [account.accountId]);
    const held = await db.pool.connect();
    await held.query('BEGIN');
    await held.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [asked(keys[first]!).keyId]);
    const closing = closeAccount(db.pool, account.accountId, { mailboxHash: randomBytes(32) });
    await waiting(1);
    const group = (reversed ? keys.toReversed() : keys).map(asked);
    const admitted = Promise.allSettled([admitRequests(db.pool, group, allPlans())]);
    await Promise.race([admitted, waiting(2)]);
    await held.query('COMMIT');
    held.release();
    expect(await closing).toBe(true);
    expect((await admitted).filter(({ status }) => status === 'rejected')).toEqual([]);
  }
});
