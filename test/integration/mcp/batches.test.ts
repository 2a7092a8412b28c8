import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { revokeApiKey } from '../../../shared/accounts/api-keys.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { limits: 'plans' });
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const ping = { jsonrpc: '2.0', id: 1, method: 'ping', params: {} };
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_monitors', arguments: {} } };

interface Answered {
  status: number;
  body: unknown;
}

async function send(key: string, body: unknown): Promise<Answered> {
  const response = await fetch(`${api.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-03-26',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const times = (count: number, message: object) => Array.from({ length: count }, (_, id) => ({ ...message, id }));
const cancel = (requestId: unknown) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
const codeOf = ({ body }: Answered) => (body as { error?: { code: unknown } }).error?.code;

test('each message of a batch counts: ten a second, and tool calls by the rate limit of the account', async () => {
  const { apiKey } = await api.account();
  await db.freeze();
  expect((await send(apiKey, times(6, ping))).status).toBe(200);
  const beyond = await send(apiKey, times(5, ping));
  expect([beyond.status, codeOf(beyond)]).toEqual([429, 'rate_limited']);

  const { apiKey: caller } = await api.account();
  // 20 a second with a burst of 40: the fifth batch of ten finds none left.
  const calls: string[] = [];
  for (let batch = 0; batch < 5; batch++) {
    const { body } = await send(caller, times(10, call));
    for (const { result } of body as { result: { isError?: boolean } }[])
      calls.push(result.isError === true ? 'refused' : 'passed');
  }
  expect(calls.filter((outcome) => outcome === 'passed')).toHaveLength(40);
  expect((await send(caller, times(10, ping))).status).toBe(200);
});

test.each<[what: string, body: unknown, status: number]>([
  ['a batch of a call without parameters', [{ ...call, params: undefined }], 200],
  ['a batch of a call that expects no answer', [{ ...call, id: undefined }], 202],
  ['a batch of calls that is no message', [call, { ...call, jsonrpc: '1.0' }], 400],
  ['a batch that is too long', times(11, call), 400],
])('%s counts as a message', async (_what, body, status) => {
  const { apiKey } = await api.account();
  await db.freeze();
  const statuses: number[] = [];
  for (let request = 0; request < 11; request++) statuses.push((await send(apiKey, body)).status);
  expect(statuses).toEqual([...Array<number>(10).fill(status), 429]);
});

test.each<[what: string, body: object[], fault: string]>([
  ['two calls of one id', [call, call], 'the requests of a batch must have different ids'],
  ['a call and its cancellation', [call, cancel(1)], 'a batch must not cancel its own requests'],
])('a batch of %s is refused, and counts as a message', async (_what, body, fault) => {
  const { apiKey } = await api.account();
  await db.freeze();
  const refused = await send(apiKey, body);
  expect([refused.status, refused.body]).toEqual([
    400,
    {
      error: {
        code: 'invalid_request',
        message: `body: ${fault}.`,
        doc_url: 'http://localhost/docs/reference/errors#invalid_request',
        retryable: false,
      },
    },
  ]);
  expect((await send(apiKey, times(10, ping))).status).toBe(429);
});

test('a call of an unknown tool counts as a call', async () => {
  const { apiKey } = await api.account({ pack: 0 });
  await db.freeze();
  const unknown = { ...call, params: { name: 'nothing' } };
  expect((await send(apiKey, [unknown])).body).toMatchObject({ error: { code: -32602 } });
  for (const body of [unknown, [call]]) {
    expect((await send(apiKey, body)).body).toMatchObject({
      result: { isError: true, _meta: { error: { code: 'rate_limited' } } },
    });
  }
});

test.each([
  ['arrays', `${'['.repeat(120_000)}${']'.repeat(120_000)}`],
  ['objects', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
  [
    'a call',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_monitors","arguments":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`,
  ],
])('deep nesting (%s) never causes a 5xx', async (_what, body) => {
  const { apiKey } = await api.account();
  const { status } = await send(apiKey, body);
  expect(status).toBeLessThan(500);
});

test('refuses a large body without a valid key before reading it', async () => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  // The body is never sent.
  socket.write(
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n',
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 [^]*WWW-Authenticate: Bearer [^]*"unauthorized"/);
});

describe('a revoked key', () => {
  const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
  const large = rpc('ping', { padding: 'x'.repeat(20_000) });

  test.each<[what: string, body: unknown]>([
    ['a message that calls no tool', ping],
    ['a call of a tool', call],
    ['a batch', [ping, { ...call, id: 2 }]],
    ['a batch that is too long', times(11, ping)],
    ['a large message', large],
    ['a body that is not JSON', '{'],
  ])('is refused for %s, and takes no limit', async (_what, body) => {
    const { accountId, apiKey } = await api.account();
    const limits = async () =>
      (
        await db.pool.query<object>(
          `SELECT burst_whole_at, day_requests, (SELECT times FROM recent_uses WHERE name = 'mcp:' || account_id)
           FROM account_limits WHERE account_id = $1`,
          [accountId],
        )
      ).rows;
    const before = await limits();
    expect(await revokeApiKey(db.pool, accountId, apiKey.slice(3, 11))).toBe(true);
    expect((await send(apiKey, body)).status).toBe(401);
    expect(await limits()).toEqual(before);
  });

  test('is refused when it was revoked between the head and the body of a message', async () => {
    const { accountId, apiKey } = await api.account();
    const query = vi.spyOn(db.pool, 'query');
    onTestFinished(() => query.mockRestore());
    const body = JSON.stringify(large);
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const looksUp = ([statement]: unknown[]) => JSON.stringify(statement).includes('api_keys');
    await eventually('the lookup of the key', () => query.mock.calls.some(looksUp));
    await revokeApiKey(db.pool, accountId, apiKey.slice(3, 11));
    socket.write(body);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 [^]*"unauthorized"/);
  });
});
