import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { revokeApiKey } from '../../../shared/stores/accounts/api-keys.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let account: TestAccount;
/** The statements that the service sent outside of transactions. */
let statements: string[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  const query = db.pool.query.bind(db.pool) as (...args: unknown[]) => unknown;
  vi.spyOn(db.pool, 'query').mockImplementation((...args: unknown[]) => {
    const [first] = args as [string | { text: string }];
    statements.push(typeof first === 'string' ? first : first.text);
    return query(...args);
  });
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

beforeEach(async () => {
  account = await api.account();
  statements = [];
});

const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const PING = rpc('ping');
const LIST_TOOLS = rpc('tools/list');
const CALL = rpc('tools/call', { name: 'list_monitors', arguments: {} });
const LARGE_PING = rpc('ping', { padding: 'x'.repeat(20_000) });
const HELLO = rpc('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

async function send(body: unknown): Promise<number> {
  const response = await fetch(`${api.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-03-26',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await response.text();
  return response.status;
}

/** Lookups of keys, and all statements. */
const counts = () => [statements.filter((text) => text.includes('api_keys')).length, statements.length];

async function limits(): Promise<unknown[]> {
  const { rows } = await db.pool.query<Record<string, unknown>>(
    `SELECT burst_whole_at, day_requests, (SELECT times FROM recent_uses WHERE name = 'mcp:' || account_id)
     FROM account_limits
     WHERE account_id = $1`,
    [account.accountId],
  );
  return rows;
}

describe('a revoked key', () => {
  test.each<[what: string, body: unknown]>([
    ['a message that calls no tool', PING],
    ['a list of the tools', LIST_TOOLS],
    ['a handshake', HELLO],
    ['a call of a tool', CALL],
    ['a batch', [PING, CALL]],
    ['a batch of calls', [CALL, CALL]],
    ['a batch that is too long', Array.from({ length: 11 }, () => PING)],
    ['an empty batch', []],
    ['a large message', LARGE_PING],
    ['a body that is not JSON', '{'],
  ])('is refused for %s, and takes no limit', async (_what, body) => {
    expect(await revokeApiKey(db.pool, account.accountId, account.apiKey.slice(3, 11))).toBe(true);
    const before = await limits();
    expect(await send(body)).toBe(401);
    expect(await limits()).toEqual(before);
  });

  test('is refused when it was revoked between the head and the body of a message', async () => {
    const body = JSON.stringify(LARGE_PING);
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.apiKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await eventually('the lookup of the key', () => counts()[0] === 1);
    await revokeApiKey(db.pool, account.accountId, account.apiKey.slice(3, 11));
    socket.write(body);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 [^]*"unauthorized"/);
  });
});
