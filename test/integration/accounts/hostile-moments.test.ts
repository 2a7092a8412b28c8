import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ReadingCharges } from '../../../services/api/http/request-charges.ts';
import { freezeAccount, unfreezeAccount } from '../../../shared/accounts/close-account.ts';
import { allPlans } from '../../../shared/billing/rules/plans.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { untilLockWaiters } from '../../support/fixtures/lock-waiters.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
/** The forum and the name servers answer once this resolves. */
let admissionControl = Promise.resolve();
let atGate = 0;

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  const { upstream } = forum.forum;
  const get: typeof upstream.get = async (...call) => {
    atGate++;
    await admissionControl;
    return upstream.get(...call);
  };
  const plans = allPlans();
  api = await startTestApi(db.pool, {
    limits: new Map([...plans].map(([pack, plan]) => [pack, { ...plan, requestsPerSecond: 1_000, burst: 1_000 }])),
    forum: { ...forum.forum, upstream: { ...upstream, get } },
    lookup: async () => {
      atGate++;
      await admissionControl;
      return ['93.184.216.34'];
    },
  });
});

afterAll(async () => {
  await api.stop();
  await forum.stop();
  await db.drop();
});

const codeOf = ({ body }: Reply) => (body.error as { code: string } | undefined)?.code;
const BODY = { name: 'a monitor', keywords: ['rust'] };

async function amountsOf({ accountId }: TestAccount): Promise<number[]> {
  const { rows } = await db.pool.query<{ amount: number }>(
    'SELECT amount FROM ledger_entries WHERE account_id = $1 ORDER BY id',
    [accountId],
  );
  return rows.map(({ amount }) => amount);
}

async function dayRequests({ accountId }: TestAccount): Promise<number> {
  const { rows } = await db.pool.query<{ day_requests: number }>(
    'SELECT day_requests FROM account_limits WHERE account_id = $1',
    [accountId],
  );
  return rows[0]!.day_requests;
}

/** Locks the account's row while `work` runs. */
async function whileLocked<T>({ accountId }: TestAccount, work: () => Promise<T>): Promise<T> {
  const held = await db.pool.connect();
  try {
    await held.query('BEGIN');
    await held.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [accountId]);
    const result = await work();
    await held.query('COMMIT');
    return result;
  } finally {
    held.release();
  }
}

const seenCloses = async () => {
  const text = await api.metrics.registry.getSingleMetricAsString('http_requests_total');
  return [...text.matchAll(/^http_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
};

/**
 * Sends a request, closes the connection while the API waits at the gate, and opens the gate once the API has noticed.
 */
async function sendAndGo(head: string[], body = ''): Promise<void> {
  let open = (): void => undefined;
  admissionControl = new Promise((resolve) => (open = resolve));
  const [before, closesBefore] = [atGate, await seenCloses()];
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.write([...head, 'Host: localhost', `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'));
  await eventually('the API waits', () => atGate > before);
  socket.destroy();
  await eventually('the API notices', async () => (await seenCloses()) > closesBefore);
  open();
}

describe('a client that disconnects', () => {
  test.each(['/v1/forum/subreddits?sort=new', '/v1/forum/post?id=POST'])(
    'before %s is ready pays nothing; repeating the request is charged once',
    async (pattern) => {
      const { apiKey } = await api.account();
      const { body } = await api.call(apiKey, 'GET', '/v1/forum/subreddit/comments?sub=coffee&limit=1');
      const path = pattern.replace('POST', (body.items as { post_id: string }[])[0]!.post_id);
      const account = await api.account({ credits: 50 });
      await sendAndGo([`GET ${path} HTTP/1.1`, `X-Api-Key: ${account.apiKey}`]);
      const again = await api.call(account.apiKey, 'GET', path);
      expect([again.status, again.headers.get('x-credits-used')]).toEqual([200, '1']);
      expect(await amountsOf(account)).toEqual([50, -1]);
    },
  );

  test.each(['', 'one'])(
    'during a create with the Idempotency-Key %j gets no monitor and pays nothing',
    async (key) => {
      const account = await api.account({ pack: 0 });
      const body = { ...BODY, webhook_url: 'https://example.com/hook' };
      const head = [
        'POST /v1/monitors HTTP/1.1',
        `X-Api-Key: ${account.apiKey}`,
        'Content-Type: application/json',
        ...(key === '' ? [] : [`Idempotency-Key: ${key}`]),
      ];
      await sendAndGo(head, JSON.stringify(body));
      const headers = key === '' ? undefined : { 'idempotency-key': key };
      const again = await api.call(account.apiKey, 'POST', '/v1/monitors', body, headers);
      expect([again.status, again.headers.get('x-credits-used')]).toEqual([201, '10']);
      expect(await amountsOf(account)).toEqual([1_000, -10]);
    },
  );
});

test('freezing an account during its requests: nothing is charged, started or created, and every answer says why', async () => {
  const account = await api.account();
  const { id } = await api.monitor(account.apiKey);
  const { id: stopped } = await api.monitor(account.apiKey);
  await api.call(account.apiKey, 'POST', `/v1/monitors/${stopped}/pause`);
  const replies = await whileLocked(account, async () => {
    const freezing = freezeAccount(db.pool, account.accountId);
    await untilLockWaiters(db.pool);
    const requests = [
      ['POST', '/v1/monitors', BODY],
      ['POST', `/v1/monitors/${stopped}/resume`, undefined],
      ['POST', '/v1/account/keys', { name: 'k' }],
      ['POST', `/v1/monitors/${id}/pause`, undefined],
    ] as const;
    const replies = requests.map(([method, path, body]) => api.call(account.apiKey, method, path, body));
    await untilLockWaiters(db.pool, 1 + requests.length);
    return [freezing, Promise.all(replies)] as const;
  });
  expect(await replies[0]).toBe(true);
  expect((await replies[1]).map((reply) => [reply.status, codeOf(reply)])).toEqual([
    [403, 'account_frozen'],
    [403, 'account_frozen'],
    [403, 'account_frozen'],
    [200, undefined],
  ]);
  expect(await amountsOf(account)).toEqual([1_000, -10, -10]);
});

test('an account frozen during a read does not get the read for free', async () => {
  const charges = new ReadingCharges(db.pool, silentLogger());
  const account = await api.account({ credits: 2 });
  const { accountId } = account;
  const caller = { keyId: 'k', accountId, scopes: [], balance: 2, pack: 79 };
  const request = { requestId: 'r', route: 'GET /v1/forum/post', keyId: 'k' };
  await freezeAccount(db.pool, accountId);
  await expect(charges.chargeCovered(caller, 2, request)).rejects.toThrow();
  await expect(charges.chargeCovered(caller, 5, request)).rejects.toThrow();
  await expect(charges.charge(caller, 1, request)).rejects.toThrow();
  await unfreezeAccount(db.pool, accountId);
  expect(await charges.chargeCovered(caller, 5, request)).toEqual({ credits: 2, balance: 0 });
  expect(await amountsOf(account)).toEqual([2, -2]);
});

describe('Postgres', () => {
  test.each([undefined, { 'idempotency-key': 'k' }])(
    'losing the connection of a create: 503, nothing charged, the daily slot returned (%j)',
    async (headers) => {
      const account = await api.account({ pack: 0, credits: 10 });
      const reply = await whileLocked(account, async () => {
        const create = api.call(account.apiKey, 'POST', '/v1/monitors', BODY, headers);
        await untilLockWaiters(db.pool);
        await db.pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return create;
      });
      expect([reply.status, reply.body.error]).toEqual([
        503,
        expect.objectContaining({ code: 'internal_error', retryable: true, retry_after: 5 }) as object,
      ]);
      expect(reply.text).not.toMatch(/terminat|postgres|pg_|stack/i);
      expect([await dayRequests(account), await amountsOf(account)]).toEqual([0, [10]]);
      const again = await api.call(account.apiKey, 'POST', '/v1/monitors', BODY, headers);
      expect([again.status, await amountsOf(account)]).toEqual([201, [10, -10]]);
    },
  );
});
