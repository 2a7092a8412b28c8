import { afterAll, beforeAll, expect, test } from 'vitest';
import { freezeAccount, closeAccount } from '../../../shared/accounts/close-account.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
let limited: TestApi;
let account: TestAccount;

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  api = await startTestApi(db.pool, { forum: forum.forum });
  limited = await startTestApi(db.pool, { forum: forum.forum, limits: 'plans' });
});

afterAll(async () => {
  await api.stop();
  await limited.stop();
  await forum.stop();
  await db.drop();
});

const CLIENT = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Sent {
  body?: unknown;
  key?: string;
  headers?: Record<string, string>;
  method?: string;
  to?: TestApi;
}

async function send({ body = '', key = account.apiKey, headers = {}, method = 'POST', to = api }: Sent) {
  const response = await fetch(`${to.url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json',
      ...headers,
    },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    // No request here takes that long; a stream that never ends must not block the test.
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (text === '' ? {} : JSON.parse(text)) as Answer,
  };
}

interface Answer {
  result?: {
    isError?: boolean;
    _meta?: { error?: { code: string; retry_after?: number }; [name: string]: unknown };
    protocolVersion?: string;
    supportedVersions?: string[];
    tools?: unknown[];
  };
  error?: { code: unknown; message: string };
}

const rpc = (method: string, params: object = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const modern = (method: string, params: object = {}) => ({
  body: rpc(method, { ...params, _meta: CLIENT }),
  headers: {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...('name' in params ? { 'mcp-name': String(params.name) } : {}),
  },
});
const listMonitors = rpc('tools/call', { name: 'list_monitors', arguments: {} });

test.each<[what: string, sent: Sent, status: number, code: unknown, message: RegExp]>([
  ['invalid JSON', { body: '{"jsonrpc":' }, 400, -32700, /Parse error/],
  ['JSON that is not a message', { body: '5' }, 400, -32600, /not a valid JSON-RPC message/],
  ['an unknown method', { body: rpc('tools/nothing') }, 200, -32601, /Method not found/],
  ['an initialization without a version', { body: rpc('initialize', {}) }, 200, -32603, /protocolVersion/],
  ['a body that is too large', { body: `"${'x'.repeat(300_000)}"` }, 413, 'payload_too_large', /256 KiB/],
  ['a GET', { method: 'GET' }, 405, 'method_not_allowed', /POST/],
  ['no key', { body: listMonitors, headers: { authorization: '' } }, 401, 'unauthorized', /./],
  ['a malformed key', { body: listMonitors, key: 'fk_nothing' }, 401, 'unauthorized', /./],
  [
    'a wrong key without a call',
    { body: rpc('tools/list'), key: `fk_aaaaaaaa${'b'.repeat(32)}` },
    401,
    'unauthorized',
    /./,
  ],
  ['no key and invalid JSON', { body: '{', headers: { authorization: '' } }, 401, 'unauthorized', /./],
  [
    'a page of another site',
    { body: listMonitors, headers: { origin: 'https://evil.example' } },
    403,
    -32000,
    /Invalid Origin/,
  ],
  ['a page without an origin', { body: listMonitors, headers: { origin: 'null' } }, 403, -32000, /Origin/],
])('refuses %s', async (_, sent, status, code, message) => {
  account = await api.account();
  const answer = await send(sent);
  expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  expect(answer.body.error?.message).toMatch(message);
  expect(answer.text).not.toMatch(/node_modules|at .*\.ts/);
  if (status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  if (status === 405) expect(answer.headers.get('allow')).toBe('POST');
});

test('serves its own hosts and no others', async () => {
  account = await api.account();
  const { request } = await import('undici');
  const ask = async (host: string) => {
    const headers = { host, authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' };
    const answer = await request(`${api.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(listMonitors) });
    await answer.body.dump();
    return answer.statusCode;
  };
  expect(await ask('localhost:1')).toBe(200);
  expect(await ask('127.0.0.1')).toBe(200);
  expect(await ask('rebound.example')).toBe(403);
});

test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
  'completes the handshake of revision %s and serves it without a session',
  async (version) => {
    account = await api.account();
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const hello = await send({ body: rpc('initialize', params) });
    expect(hello.body.result?.protocolVersion).toBe(version);
    expect(hello.headers.get('mcp-session-id')).toBeNull();
    expect(hello.headers.get('content-type')).toMatch(/^application\/json/);
    const headers = { 'mcp-protocol-version': version };
    const ready = await send({ body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers });
    expect([ready.status, ready.text]).toEqual([202, '']);
    expect((await send({ body: rpc('tools/list'), headers })).body.result?.tools?.length).toBeGreaterThan(7);
    expect((await send({ body: listMonitors, headers })).body.result?.isError).toBeUndefined();
  },
);

test('supports discovery in the current revision', async () => {
  account = await api.account();
  const { body } = await send(modern('server/discover'));
  expect(body.result).toMatchObject({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: false } },
  });
  expect((await send(modern('tools/call', { name: 'list_monitors', arguments: {} }))).status).toBe(200);
});

test('refuses a key of a closed account', async () => {
  account = await api.account();
  await closeAccount(db.pool, account.accountId, { mailboxHash: Buffer.alloc(32) });
  expect((await send({ body: listMonitors })).status).toBe(401);
});

test('tells a frozen account so, whatever it sends, and nobody without its secret', async () => {
  account = await api.account();
  const key = account.apiKey;
  await freezeAccount(db.pool, account.accountId);
  for (const body of [listMonitors, rpc('tools/list'), rpc('tools/call', { name: 'x'.repeat(20_000) })]) {
    const answer = await send({ body, key });
    expect([answer.status, answer.body.error?.code]).toEqual([403, 'account_frozen']);
    const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    expect((await send({ body, key: wrong })).status).toBe(401);
  }
});

test('the headers of a call show its cost and what is left after it', async () => {
  account = await limited.account({ pack: 9, credits: 100 });
  const args = { name: 'metals', keywords: ['rust'] };
  const made = await send({ to: limited, body: rpc('tools/call', { name: 'create_monitor', arguments: args }) });
  expect(made.body.result?._meta).toEqual({ credits_used: 10, credits_remaining: 90 });
  expect([made.headers.get('x-credits-used'), made.headers.get('x-credits-remaining')]).toEqual(['10', '90']);
  expect(made.headers.get('ratelimit-policy')).toBe('"burst";q=10;w=2');
  expect(made.headers.get('ratelimit')).toMatch(/^"burst";r=9;t=1$/);
  expect(made.headers.get('cache-control')).toBe('no-store');
});

test("each tool call counts once for the account's limits, separate from other messages", async () => {
  await db.freeze();
  account = await limited.account({ pack: 0, credits: 200 });
  const to = limited;
  for (let message = 0; message < 10; message++) expect((await send({ to, body: rpc('tools/list') })).status).toBe(200);
  const eleventh = await send({ to, body: rpc('tools/list') });
  expect([eleventh.status, eleventh.body.error?.code, eleventh.headers.get('retry-after')]).toEqual([
    429,
    'rate_limited',
    '1',
  ]);

  expect((await send({ to, body: listMonitors })).body.result?.isError).toBeUndefined();
  const second = await send({ to, body: listMonitors });
  expect([second.status, second.body.result?._meta?.error]).toMatchObject([
    200,
    { code: 'rate_limited', retry_after: 1 },
  ]);

  await db.freeze('1 second');
  // A batch of the revision that had them: its first call passes, as it would alone.
  const batch = [listMonitors, { ...listMonitors, id: 2 }, rpc('ping', {}, 3)];
  const answers = (await send({ to, body: batch, headers: { 'mcp-protocol-version': '2025-03-26' } })).body as Answer[];
  const codes = answers.map(({ result }) => result?._meta?.error?.code ?? 'passed').sort();
  expect(codes).toEqual(['passed', 'passed', 'rate_limited']);

  await db.pool.query('UPDATE account_limits SET day_requests = 100 WHERE account_id = $1', [account.accountId]);
  await db.freeze('1 second');
  const late = await send({ to, body: listMonitors });
  expect(late.body.result?._meta?.error?.code).toBe('daily_limit_reached');
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
});

test.each([
  ['parameters', { ...rpc('tools/list'), params: null }],
  ['a cursor', rpc('tools/list', { cursor: null })],
  ['arguments', rpc('tools/call', { name: 'list_monitors', arguments: null })],
  [
    'capabilities',
    rpc('initialize', { protocolVersion: '2025-06-18', capabilities: null, clientInfo: { name: 'c', version: '1' } }),
  ],
])('null as %s counts as absent', async (_what, body) => {
  const { body: answer, text } = await send({ body });
  expect(answer.error, text).toBeUndefined();
  expect(answer.result?.isError).toBeUndefined();
});

test('with one request a second, a second call waits and is tried again instead of failing', async () => {
  account = await limited.account({ pack: 0, credits: 200 });
  const call = () => send({ to: limited, body: listMonitors });
  for (const { body } of [await call(), await call(), await call()]) expect(body.result?.isError).toBeUndefined();
});

test('a call that fails on our side returns its daily slot and charges nothing', async () => {
  await db.freeze();
  account = await limited.account({ pack: 0, credits: 200 });
  await forum.fault({ kind: '5xx', seconds: 60 });
  const body = rpc('tools/call', { name: 'get_subreddit', arguments: { sub: 'baking' } });
  const failed = await send({ to: limited, body });
  expect(failed.body.result?._meta?.error?.code).toBe('upstream_error');
  expect(failed.headers.get('ratelimit')).toMatch(/"day";r=100;/);
  await forum.calm();
  const { rows } = await db.pool.query<{ day_requests: number; balance: number }>(
    `SELECT day_requests, balance FROM account_limits l JOIN accounts a ON a.id = l.account_id WHERE a.id = $1`,
    [account.accountId],
  );
  expect(rows[0]).toEqual({ day_requests: 0, balance: 200 });
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
});
