import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { mailer: { send: () => Promise.resolve() } });
  owner = await api.account();
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

interface RawReply {
  status: number;
  head: string;
  body: string;
}

/** Sends raw bytes, as no client library would; KEY stands for a valid key. */
function raw(lines: readonly string[], body = ''): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('latin1');
      const [head = '', ...rest] = text.split('\r\n\r\n');
      resolve({ status: Number(head.split(' ')[1]), head, body: rest.join('\r\n\r\n') });
    });
    const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`];
    const request = [...lines, 'Host: localhost', 'Connection: close', ...length, '', body].join('\r\n');
    socket.write(Buffer.from(request.replaceAll('KEY', owner.apiKey), 'latin1'));
  });
}

const GOOD = 'X-Api-Key: KEY';

describe('keys in unusual forms', () => {
  test.each([
    [200, ['Authorization: bearer    KEY   ']],
    [200, ['Authorization: Basic eDp5', GOOD]],
    [200, ['Authorization:', GOOD]],
    [200, ['Authorization: Bearer KEY', 'X-Api-Key: nonsense']],
    [401, ['Authorization: Bearer nonsense', GOOD]],
    [401, ['Authorization: BearerKEY']],
    [401, ['Authorization: Bearer KEY KEY']],
    // Not HTTP: refused before any key is read.
    [400, ['Authorization: Bearer\x00KEY']],
    [401, [GOOD, GOOD]],
    [401, ['X-Api-Key: Bearer KEY']],
    [401, ['X-Api-Key: \xfc\xff']],
    [401, [`Authorization: Bearer${' '.repeat(30_000)}`]],
    [401, [`Authorization: Bearer ${'a '.repeat(15_000)}`]],
    [401, [`X-Api-Key: ${'KEY'.repeat(500)}`]],
  ] as [number, string[]][])('%i for %j', async (status, headers) => {
    const reply = await raw(['GET /v1/account HTTP/1.1', ...headers]);
    expect(reply.status).toBe(status);
    if (reply.status === 200) return;
    const { error } = errorEnvelope.parse(JSON.parse(reply.body));
    expect(error.message).not.toContain(owner.apiKey.slice(0, 20));
  });
});

const PATHS = [
  'GET /v1/account',
  'HEAD /v1/account',
  'POST /v1/account/keys',
  'GET /v1/account/ledger',
  'POST /v1/monitors',
  'POST /v1/monitors/%00/pause',
  'PROPFIND /v1/account/ledger',
  'POST /api/agent/signup',
  'POST /api/agent/verify',
];

const ODD_HEADERS = [
  'Idempotency-Key: \xff\xfe',
  `Idempotency-Key: ${'k'.repeat(40_000)}`,
  'Idempotency-Key: a\r\nIdempotency-Key: b',
  'Accept: text/csv;q=NaN, */*;q=-1',
  `Accept: ${'a/b;q=0.1,'.repeat(3_000)}text/csv`,
  'Accept: text/csv; charset=\xff',
  'Accept-Encoding: \xff, gzip;q=x',
  'Content-Type: application/json; charset=klingon',
  'Content-Encoding: gzip',
  'Content-Type: application/json\r\nContent-Type: text/plain',
  'X-Forwarded-For: \xff, 1.2.3.4:5',
  'X-Http-Method-Override: DELETE',
];

const BODIES = [
  '',
  'null',
  '1e400',
  '{"name":"\\ud800","keywords":["\\u0000"]}',
  '{"__proto__":{"name":"x"},"constructor":1}',
  '{"email":"a@b.c\\r\\nBcc: x@y.z"}',
  `{"email":"${'a'.repeat(3_000)}@example.com"}`,
  '{"email":["a@example.com"]}',
  '{"signup_token":"\\u0000","code":"000000"}',
  '{"signup_token":"\\ud800","code":"\\u0661\\u0661\\u0661\\u0661\\u0661\\u0661"}',
  '\xff\xfe{',
  '['.repeat(2_000),
];

test.each(PATHS)('%s never answers 5xx, whatever the headers and the body', async (path) => {
  const faults: unknown[] = [];
  const requests = [
    ...ODD_HEADERS.map((header) => [header, '{"name":"x","keywords":["rust"]}'] as const),
    ...BODIES.map((body) => ['Idempotency-Key: one', body] as const),
  ];
  for (const [header, body] of requests) {
    const lines = [`${path} HTTP/1.1`, GOOD, 'Content-Type: application/json', header];
    if (header.startsWith('Content-Type')) lines.splice(2, 1);
    const reply = await raw(lines, body);
    const isGood = reply.status >= 200 && reply.status < 500 && /^x-request-id: [\w.-]+$/im.test(reply.head);
    const isEnvelope =
      reply.status < 400 || reply.body === '' || errorEnvelope.safeParse(JSON.parse(unchunked(reply))).success;
    if (!isGood || !isEnvelope) faults.push([header.slice(0, 60), body.slice(0, 60), reply.head.split('\r\n')[0]]);
  }
  expect(faults).toEqual([]);
});

function unchunked({ body }: RawReply): string {
  return body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1);
}

test('without a trusted proxy a client cannot choose its network by X-Forwarded-For', async () => {
  const codes = [];
  for (let at = 0; at < 21; at++) {
    const email = `somebody${at}@example.com`;
    const headers = { 'x-forwarded-for': `198.51.${at}.1` };
    codes.push((await api.call(undefined, 'POST', '/api/agent/signup', { email }, headers)).status);
  }
  expect(codes.slice(-1)).toEqual([429]);
});

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
