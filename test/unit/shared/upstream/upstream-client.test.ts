import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import type { Upstream, UpstreamCall } from '../../../../shared/upstream/upstream-client.ts';
import { createUpstream } from '../../../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';
import { eventually } from '../../../support/fixtures/eventually.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' };

/** A real HTTP server that answers like the forum's front end; `answer` decides everything but tokens. */
class Front {
  answer: Handler = () => undefined;
  tokens = 0;
  expiresIn = 3600;
  givesTokens = true;
  readonly tokenRequests: IncomingMessage[] = [];
  readonly requests: IncomingMessage[] = [];
  url = '';
  private readonly server = createServer((request, response) => {
    if (request.url !== '/token') {
      this.requests.push(request);
      this.answer(request, response);
      return;
    }
    this.tokenRequests.push(request);
    if (!this.givesTokens) return;
    this.tokens += 1;
    response.writeHead(200, JSON_TYPE);
    response.end(JSON.stringify({ access_token: `token-${this.tokens}`, expires_in: this.expiresIn }));
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('createUpstream', () => {
  const front = new Front();
  let now = 1_000_000;
  let upstream: Upstream | undefined;

  beforeAll(() => front.start());
  afterEach(async () => {
    await upstream?.stop();
    front.requests.length = 0;
    front.tokenRequests.length = 0;
    front.expiresIn = 3600;
    front.givesTokens = true;
  });
  afterAll(() => {
    front.stop();
  });

  function create(clients = 1): Upstream {
    upstream = createUpstream({
      url: front.url,
      tokenUrl: `${front.url}/token`,
      userAgent: 'test:client:1 (by /u/test)',
      clients: Array.from({ length: clients }, (_, index) => ({ id: `id${index}`, secret: 's:e' })),
      clock: () => now,
      metrics: createMetrics(),
      logger: silentLogger(),
    });
    return upstream;
  }
  const reply = (status: number, body: string, headers: Record<string, string> = JSON_TYPE): Handler => {
    return (_, response) => response.writeHead(status, headers).end(body);
  };
  async function failure(call: Partial<UpstreamCall> = {}, client = create()): Promise<UpstreamError> {
    const error: unknown = await client.get('/x', {}, { endpoint: 'x', ...call }).catch((caught: unknown) => caught);
    if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError: ${String(error)}`);
    return error;
  }

  test('gets JSON with a bearer token, raw_json and its User-Agent', async () => {
    front.answer = reply(200, '{"a":1}');
    expect(await create().get('/r/all/new', { limit: '5' }, { endpoint: 'x' })).toEqual({ a: 1 });
    expect(front.requests[0]?.url).toBe('/r/all/new?limit=5&raw_json=1');
    expect(front.requests[0]?.headers.authorization).toMatch(/^Bearer token-\d+$/);
    expect(front.requests[0]?.headers['user-agent']).toBe('test:client:1 (by /u/test)');
    const basic = Buffer.from('id0:s:e').toString('base64');
    expect(front.tokenRequests[0]?.headers).toMatchObject({
      authorization: `Basic ${basic}`,
      'user-agent': 'test:client:1 (by /u/test)',
    });
  });

  test('fetches one token for many calls, and a new one before it expires', async () => {
    front.answer = reply(200, '1');
    const client = create();
    await Promise.all(Array.from({ length: 5 }, () => client.get('/x', {}, { endpoint: 'x' })));
    expect(front.tokenRequests).toHaveLength(1);
    now += 3_539_000;
    await client.get('/x', {}, { endpoint: 'x' });
    expect(front.tokenRequests).toHaveLength(1);
    now += 2_000;
    await client.get('/x', {}, { endpoint: 'x' });
    expect(front.tokenRequests).toHaveLength(2);
  });

  test('makes live calls while slow reads use all connections of the reading lane', async () => {
    front.answer = (request, response) => {
      if (request.url?.startsWith('/slow') !== true) reply(200, '"live"')(request, response);
    };
    const client = create();
    const abandon = new AbortController();
    const slow = Array.from({ length: 128 }, () =>
      client.get('/slow', {}, { endpoint: 'x', lane: 'reading', signal: abandon.signal }).catch(() => 'aborted'),
    );
    await eventually('readers hold their connections', () => front.requests.length === 128);
    expect(await client.get('/x', {}, { endpoint: 'x', lane: 'live' })).toBe('live');
    abandon.abort();
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['aborted']));
  });

  test('fetches a new token after a 401, once', async () => {
    let calls = 0;
    front.answer = (request, response) => {
      calls += 1;
      reply(calls === 1 ? 401 : 200, '{}')(request, response);
    };
    await create().get('/x', {}, { endpoint: 'x' });
    expect(front.tokenRequests).toHaveLength(2);
    front.answer = reply(401, '{"message":"Unauthorized","error":401}');
    expect(await failure()).toMatchObject({ failure: 'refused', status: 401, reason: 'Unauthorized' });
  });

  test.each<[string, number, string, Record<string, string>, object]>([
    [
      'a private community',
      403,
      '{"reason":"private","error":403}',
      JSON_TYPE,
      { failure: 'refused', reason: 'private' },
    ],
    ['a block', 403, '<html>', { 'content-type': 'text/html' }, { failure: 'refused', reason: 'blocked' }],
    ['404', 404, '{"message":"Not Found","error":404}', JSON_TYPE, { failure: 'not_found', reason: 'Not Found' }],
    ['404 of something in between', 404, 'nope', { 'content-type': 'text/html' }, { failure: 'broken' }],
    [
      'a redirect',
      302,
      '',
      { location: '/subreddits/search?q=x' },
      { failure: 'moved', location: '/subreddits/search?q=x' },
    ],
    ['429', 429, '', { 'retry-after': '7' }, { failure: 'busy', retryAfterMs: 7000 }],
    ['429 for years', 429, '', { 'retry-after': '9999999999' }, { failure: 'busy', retryAfterMs: 3_600_000 }],
    ['503', 503, '<html>', { 'content-type': 'text/html' }, { failure: 'broken', retryable: true }],
    ['HTML with status 200', 200, '<html>', { 'content-type': 'text/html' }, { failure: 'broken', reason: 'not_json' }],
    ['broken JSON', 200, '{"a":', JSON_TYPE, { failure: 'broken', reason: 'broken_json' }],
  ])('translates %s', async (_, status, body, headers, expected) => {
    front.answer = reply(status, body, headers);
    expect(await failure()).toMatchObject(expected);
    expect(front.requests).toHaveLength(1);
  });

  test('stops at its deadline', async () => {
    front.answer = () => undefined;
    expect(await failure({ deadlineMs: 100 })).toMatchObject({ failure: 'timeout' });
  });

  test('stops at its deadline, or when its caller does, while no token arrives', async () => {
    front.givesTokens = false;
    expect(await failure({ deadlineMs: 100 })).toMatchObject({ failure: 'timeout' });
    const caller = new AbortController();
    const call = create().get('/x', {}, { endpoint: 'x', signal: caller.signal });
    caller.abort(new Error('the client left'));
    await expect(call).rejects.toThrow('the client left');
    expect(front.requests).toHaveLength(0);
  });

  test('retries retryable failures, as often as retryDelaysMs allows', async () => {
    front.answer = reply(502, '');
    await failure({ retryDelaysMs: [1, 1] });
    expect(front.requests).toHaveLength(3);
    front.requests.length = 0;
    front.answer = reply(403, '{}');
    await failure({ retryDelaysMs: [1, 1] });
    expect(front.requests).toHaveLength(1);
  });

  test('does not use a client with a used-up window and uses the other one meanwhile', async () => {
    let served = '';
    front.answer = (request, response) => {
      served = request.headers.authorization ?? '';
      const headers = { 'x-ratelimit-remaining': '0.0', 'x-ratelimit-used': '600', 'x-ratelimit-reset': '30' };
      reply(200, '1', { ...JSON_TYPE, ...headers })(request, response);
    };
    const client = create(2);
    await client.get('/x', {}, { endpoint: 'x' });
    const first = served;
    await client.get('/x', {}, { endpoint: 'x' });
    expect(served).not.toBe(first);
    expect(await failure({}, client)).toMatchObject({ failure: 'busy', reason: 'own_budget', retryAfterMs: 30_000 });
    expect(front.requests).toHaveLength(2);
    now += 30_000;
    await client.get('/x', {}, { endpoint: 'x' });
  });
});
