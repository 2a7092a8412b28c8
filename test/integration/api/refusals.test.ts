import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { refusedState } from '../../support/fixtures/refused-state.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let monitorId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, {
    lookup: (host) => {
      if (host === 'localhost') return Promise.resolve(['127.0.0.1', '::1']);
      if (host.endsWith('.internal')) return Promise.resolve(['93.184.216.34', '10.0.0.7']);
      return Promise.reject(new Error(`${host} does not resolve`));
    },
  });
  owner = await api.account();
  monitorId = (await api.monitor(owner.apiKey, { webhook_url: 'https://does-not-resolve.example/x' })).id;
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

function expectRefusal(reply: Reply, status: number, code: string, message: string): void {
  const { error } = errorEnvelope.parse(reply.body);
  expect([reply.status, error.code]).toEqual([status, code]);
  expect(error.message).toMatch(message.startsWith('^') ? new RegExp(message) : message);
  expect(error.retryable).toBe(false);
  expect(reply.headers.get('x-request-id')).toMatch(/./);
}

describe('nothing is charged, created or changed', () => {
  let before: unknown;
  beforeEach(async () => {
    before = await refusedState(db.pool);
  });
  afterEach(async () => {
    expect(await refusedState(db.pool)).toEqual(before);
  });

  const RULE_FAULTS: [object, string][] = [
    [{ name: '' }, '^name: must not be empty'],
    [{ name: 'x'.repeat(201) }, '^name: must have at most 200'],
    [{ name: 'a\0b' }, '^name: '],
    [{ keywords: 'rust' }, '^keywords: must be a list'],
    [{ keywords: [] }, '^keywords: '],
    [{ keywords: Array.from({ length: 21 }, (_, at) => `term ${at}`) }, '^keywords: '],
    [{ keywords: ['rust', 'go', 'x'] }, '^keywords\\[2\\]: '],
    [{ keywords: ['x'.repeat(101)] }, '^keywords\\[0\\]: '],
    [{ keywords: ['ru\0st'] }, '^keywords\\[0\\]: '],
    [{ exclude: ['x'] }, '^exclude\\[0\\]: '],
    [{ exclude: Array.from({ length: 21 }, (_, at) => `term ${at}`) }, '^exclude: '],
    [{ subreddits: ['rust', 'no spaces'] }, '^subreddits\\[1\\]: '],
    [{ subreddits: Array.from({ length: 51 }, (_, at) => `sub${at}`) }, '^subreddits: '],
    [{ posts: 'true' }, '^posts: must be true or false'],
    [{ webhook_url: 'not a url' }, '^webhook_url: '],
    [{ webhook_url: 'http://example.com/x' }, '^webhook_url: must be an https:// URL'],
    [{ webhook_url: 'https://u:p@example.com/x' }, '^webhook_url: '],
    [{ webhook_url: 'https://localhost/x' }, '^webhook_url: '],
    [{ webhook_url: 'https://2130706433/x' }, '^webhook_url: '],
    [{ webhook_url: 'https://[::1]/x' }, '^webhook_url: '],
    [{ webhook_url: 'https://10.1.2.3/x' }, '^webhook_url: '],
    [{ webhook_url: 'https://some.internal/x' }, '^webhook_url: must resolve to a public Internet address$'],
    [{ webhook_url: 'https://example.com/\0' }, '^webhook_url: '],
    [{ keyword: ['rust'] }, '^keyword: is not recognized'],
    [{ name: '', nsfw: 1 }, '^name: .*; nsfw: '],
  ];

  test.each(RULE_FAULTS)('create and PATCH refuse %j', async (fault, message) => {
    const whole = { name: 'a monitor', keywords: ['rust'], ...fault };
    const created = await api.call(owner.apiKey, 'POST', '/v1/monitors', whole);
    expectRefusal(created, 400, 'invalid_request', message);
    expect(created.headers.get('x-credits-used')).toBeNull();
    expect(created.headers.get('x-credits-remaining')).toBe('990');
    expectRefusal(
      await api.call(owner.apiKey, 'PATCH', `/v1/monitors/${monitorId}`, fault),
      400,
      'invalid_request',
      message,
    );
  });

  test.each([
    [{ keywords: ['rust'] }, '^name: is required'],
    [{ name: 'x', keywords: ['rust'], webhook_url: '' }, '^webhook_url: must not be empty'],
    [{ name: 'x', keywords: ['rust'], webhook_kind: 'slack' }, '^webhook_kind: needs a webhook_url'],
    [[], '^body: must be a JSON object'],
    ['{"name": "x", "keywords": ["rust"], "__proto__": {}}', '^__proto__: is not recognized'],
    ['{"name": ', '^body: must be complete and valid JSON'],
    [undefined, '^name: is required; keywords: is required'],
  ])('create refuses %j', async (body, message) => {
    expectRefusal(await api.call(owner.apiKey, 'POST', '/v1/monitors', body), 400, 'invalid_request', message);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['order=oldest&order=newest', 'order'],
    ['after=%00', 'after'],
    ['after=mat_zzzzzzzzzzzz_000000000001', 'after'],
    ['before=mat_zzzzzzzzzzzz_000000000001', 'before'],
    ['order=newest&after=mat_zzzzzzzzzzzz_000000000001', 'after'],
    ['since=2026-03-04', 'since'],
    ['since=2026-03-04T10:00:00Z&until=2026-03-04T11:00:00%2B01:00', 'since'],
    ['keyword=rust&keyword=go', 'keyword'],
    ['subreddit=no%20spaces', 'subreddit'],
    ['__proto__=1', '__proto__'],
  ])('matches refuses ?%s and names %s', async (query, field) => {
    const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${monitorId}/matches?${query}`);
    expectRefusal(reply, 400, 'invalid_request', `^${field}: `);
  });

  test('the key is checked before the body, the path and the permissions', async () => {
    const wrong = `fk_${'0'.repeat(40)}`;
    for (const [method, path] of [
      ['POST', '/v1/monitors'],
      ['PATCH', '/v1/monitors/mon_000000000000'],
      ['GET', '/v1/forum/post'],
      ['DELETE', '/v1/account'],
      ['GET', '/v1/nothing'],
    ] as const) {
      for (const headers of [
        {},
        { authorization: 'Bearer' },
        { authorization: `Basic ${owner.apiKey}` },
        { authorization: `Bearer ${wrong}` },
        { 'x-api-key': `${owner.apiKey.slice(0, -1)}!` },
      ]) {
        const reply = await api.call(undefined, method, path, method === 'GET' ? undefined : '{', headers);
        expectRefusal(reply, 401, 'unauthorized', 'API key');
        expect(reply.headers.get('www-authenticate')).toBe('Bearer');
        expect(reply.headers.get('x-credits-remaining')).toBeNull();
      }
    }
  });

  test.each([
    ['PUT', '/v1/monitors', 'POST, GET, HEAD'],
    ['PATCH', '/v1/account', 'GET, DELETE, HEAD'],
    ['POST', '/v1/coverage', 'GET, HEAD'],
    ['GET', '/v1/monitors/mon_000000000000/pause', 'POST'],
    ['HEAD', '/v1/forum/post?id=abc', 'GET'],
    ['PUT', '/v1/forum/things', 'GET'],
  ])('%s %s answers 405 with the allowed methods', async (method, path, allow) => {
    const reply = await api.call(owner.apiKey, method, path);
    // An answer to HEAD has no body.
    if (method === 'HEAD') expect([reply.status, reply.headers.get('x-credits-remaining')]).toEqual([405, '990']);
    else expectRefusal(reply, 405, 'method_not_allowed', method);
    expect(reply.headers.get('allow')).toBe(allow);
  });

  /** Routes below /v1/monitors that read a body. `ID` stands for a monitor. */
  const BODY_ROUTES = [
    ['POST', '/v1/monitors'],
    ['POST', '/v1/monitors/parse'],
    ['POST', '/v1/monitors/preview'],
    ['POST', '/v1/monitors/ID/diff'],
    ['POST', '/v1/monitors/explain'],
    ['PATCH', '/v1/monitors/ID'],
  ] as const;

  describe.each(BODY_ROUTES)('%s %s', (method, path) => {
    const send = (body: unknown, headers?: Record<string, string>) =>
      api.call(owner.apiKey, method, path.replace('ID', monitorId), body, headers);

    test('reads JSON objects of a bounded size only', async () => {
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      expectRefusal(await send('name=x', form), 415, 'unsupported_media_type', 'application/json');
      const encoded = await send('{}', { 'content-encoding': 'x-unknown' });
      expectRefusal(encoded, 415, 'unsupported_media_type', '^body: ');
      expectRefusal(await send({ name: 'x'.repeat(140_000) }), 413, 'payload_too_large', '^body: ');
      expectRefusal(await send('[]'), 400, 'invalid_request', '^body: must be a JSON object');
      expectRefusal(await send('{'), 400, 'invalid_request', '^body: ');
    });
  });

  test.each([
    { path: '/matches?keyword=%00', field: 'keyword' },
    { path: '/matches?keyword=a%00b&order=newest', field: 'keyword' },
    { path: '/matches?since=0000-01-01T00:00:00Z', field: 'since' },
    { path: '/matches?until=2026-01-01T00:00:00%2B16:00', field: 'until' },
    { path: '/events?after=%00', field: 'after' },
    { path: '/backfill', body: { from: '0000-01-01T00:00:00Z' }, field: 'from' },
    {
      path: '/backfill',
      body: { from: new Date(Date.now() - 7_200_000).toISOString().replace('Z', '+20:00') },
      field: 'from',
    },
  ])('$path $body is refused, because the database could not read it', async ({ path, body, field }) => {
    const reply = await api.call(
      owner.apiKey,
      body === undefined ? 'GET' : 'POST',
      `/v1/monitors/${monitorId}${path}`,
      body,
    );
    expectRefusal(reply, 400, 'invalid_request', `^${field}: `);
  });

  test('refuses an unknown route and an unacceptable type', async () => {
    expectRefusal(await api.call(owner.apiKey, 'GET', '/v1/nothing'), 404, 'not_found', 'There is no route');
    expectRefusal(await api.call(undefined, 'GET', '/nothing'), 404, 'not_found', 'There is no route');
    const picky = await api.call(owner.apiKey, 'GET', '/v1/account', undefined, { accept: 'text/html' });
    expectRefusal(picky, 406, 'not_acceptable', '^Accept: ');
  });
});
