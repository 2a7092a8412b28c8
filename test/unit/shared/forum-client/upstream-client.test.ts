import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import type { Upstream, UpstreamCall } from '../../../../shared/forum-client/upstream-client.ts';
import { createUpstream } from '../../../../shared/forum-client/upstream-client.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';
import { eventually } from '../../../support/fixtures/eventually.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' };

const reply = (status: number, body: string, headers: Record<string, string> = JSON_TYPE): Handler => {
  return (_, response) => void response.writeHead(status, headers).end(body);
};
const never: Handler = () => undefined;
/** The default: a body that names the client. */
const ok: Handler = (request, response) =>
  reply(200, JSON.stringify({ client: bearerClient(request) }))(request, response);

function basicClient({ headers }: IncomingMessage): string {
  const credentials = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString();
  return credentials.split(':')[0] ?? '';
}

function bearerClient({ headers }: IncomingMessage): string {
  return headers.authorization?.slice('Bearer '.length).split('/')[0] ?? '';
}

/** A real HTTP server that answers each OAuth client like the forum's front end. Tokens are `<client>/<number>`. */
class Front {
  answer = ok;
  /** By client, instead of a token and of `answer`. */
  readonly tokenAnswers = new Map<string, Handler>();
  readonly answers = new Map<string, Handler>();
  readonly tokenRequests: IncomingMessage[] = [];
  readonly requests: IncomingMessage[] = [];
  url = '';
  private tokens = 0;
  private readonly server = createServer((request, response) => {
    if (request.url === '/token') {
      this.tokenRequests.push(request);
      const client = basicClient(request);
      const token = { access_token: `${client}/${++this.tokens}`, expires_in: 3600 };
      (this.tokenAnswers.get(client) ?? reply(200, JSON.stringify(token)))(request, response);
      return;
    }
    this.requests.push(request);
    (this.answers.get(bearerClient(request)) ?? this.answer)(request, response);
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  reset(): void {
    this.answer = ok;
    for (const answers of [this.tokenAnswers, this.answers]) answers.clear();
    this.tokenRequests.length = this.requests.length = 0;
  }

  tokenRequestsOf(client: string): number {
    return this.tokenRequests.filter((request) => basicClient(request) === client).length;
  }
}

const front = new Front();
let now: number;
let lines: { level: number; client?: string; msg: string }[];
let log: string;
let upstream: Upstream | undefined;

beforeAll(() => front.start());
beforeEach(() => {
  now = 1_000_000;
  lines = [];
  log = '';
  front.reset();
  return async () => {
    await upstream?.stop();
    upstream = undefined;
  };
});
afterAll(() => {
  front.stop();
});

function create(clients: readonly string[] = ['a'], tokenPatienceMs?: number): Upstream {
  const write = (line: string): void => {
    log += line;
    const entry = JSON.parse(line) as (typeof lines)[number];
    if (entry.level >= 30) lines.push(entry);
  };
  upstream = createUpstream({
    url: front.url,
    tokenUrl: `${front.url}/token`,
    userAgent: 'test:client:1 (by /u/test)',
    clients: clients.map((id) => ({ id, secret: `hush:${id}` })),
    clock: () => now,
    metrics: createMetrics(),
    logger: createLogger('debug', { write }),
    ...(tokenPatienceMs === undefined ? {} : { tokenPatienceMs }),
  });
  return upstream;
}

/** Makes a call and returns the client that made it. */
async function call(client: Upstream, options: Partial<UpstreamCall> = {}): Promise<unknown> {
  const body = (await client.get('/x', {}, { endpoint: 'x', ...options })) as { client: string };
  return body.client;
}

async function failure(options: Partial<UpstreamCall> = {}, client = create()): Promise<UpstreamError> {
  const error: unknown = await call(client, options).catch((caught: unknown) => caught);
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError: ${String(error)}`);
  return error;
}

test('gets JSON with a bearer token, raw_json and its User-Agent', async () => {
  front.answer = reply(200, '{"a":1}');
  expect(await create().get('/r/all/new', { limit: '5' }, { endpoint: 'x' })).toEqual({ a: 1 });
  expect(front.requests[0]?.url).toBe('/r/all/new?limit=5&raw_json=1');
  expect(front.requests[0]?.headers.authorization).toMatch(/^Bearer a\/\d+$/);
  expect(front.requests[0]?.headers['user-agent']).toBe('test:client:1 (by /u/test)');
  const basic = Buffer.from('a:hush:a').toString('base64');
  expect(front.tokenRequests[0]?.headers).toMatchObject({
    authorization: `Basic ${basic}`,
    'user-agent': 'test:client:1 (by /u/test)',
  });
});

test('asks for children once at a time with each client; a call that waits ends when its caller leaves', async () => {
  const open: (() => void)[] = [];
  front.answer = (request, response) =>
    void open.push(() => {
      ok(request, response);
    });
  const client = create(['a', 'b']);
  const left = new AbortController();
  const ask = (options = {}) => client.post('/api/morechildren', {}, { endpoint: 'x', ...options });
  const calls = [ask(), ask(), ask()];
  const waiting = ask({ signal: left.signal });
  await eventually('each client calls', () => open.length === 2);
  expect(new Set(front.requests.map(bearerClient))).toEqual(new Set(['a', 'b']));
  left.abort(new Error('the caller left'));
  await expect(waiting).rejects.toThrow('the caller left');
  expect(open).toHaveLength(2);
  for (const answer of open.splice(0)) answer();
  await eventually('the third call is made', () => open.length === 1);
  open[0]!();
  await Promise.all(calls);
  expect(front.requests).toHaveLength(3);
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

test('stops at its deadline, or when its caller does, while no answer or no token arrives', async () => {
  front.answer = never;
  expect(await failure({ deadlineMs: 100 })).toMatchObject({ failure: 'timeout' });
  front.requests.length = 0;
  front.tokenAnswers.set('a', never);
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
  front.answer = (request, response) => {
    const headers = { 'x-ratelimit-remaining': '0.0', 'x-ratelimit-used': '600', 'x-ratelimit-reset': '30' };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    ok(request, response);
  };
  const client = create(['a', 'b']);
  expect([await call(client), await call(client)].sort()).toEqual(['a', 'b']);
  expect(await failure({}, client)).toMatchObject({ failure: 'busy', reason: 'own_budget', retryAfterMs: 30_000 });
  expect(front.requests).toHaveLength(2);
  now += 30_000;
  await client.get('/x', {}, { endpoint: 'x' });
});

const BAD_CLIENT: [string, () => void][] = [
  ['whose secret was revoked', () => front.tokenAnswers.set('bad', reply(401, '{}'))],
  ['whose token request is never answered', () => front.tokenAnswers.set('bad', never)],
  ['whose token request fails', () => front.tokenAnswers.set('bad', reply(503, '{}'))],
  ['whose fresh tokens are rejected', () => front.answers.set('bad', reply(401, '{}'))],
];

describe('one client of several', () => {
  test.each(BAD_CLIENT)('%s costs no call: the other one makes all of them', async (_, spoil) => {
    spoil();
    const client = create(['bad', 'good'], 50);
    for (let calls = 0; calls < 12; calls++) expect(await call(client)).toBe('good');
    expect(front.tokenRequestsOf('bad')).toBeLessThanOrEqual(2);
    expect(lines.map(({ client: id, level }) => [id, level])).toEqual([['bad', 40]]);
    expect(log).not.toContain('hush');
  });

  test('that fails is tried again after 30 s, then 60 s, and used again once it works', async () => {
    front.tokenAnswers.set('bad', reply(401, '{}'));
    const client = create(['bad', 'b']);
    const counts: number[] = [];
    for (const pastMs of [0, 29_999, 1, 59_999, 1]) {
      now += pastMs;
      await call(client);
      counts.push(front.tokenRequestsOf('bad'));
    }
    expect(counts).toEqual([1, 1, 2, 2, 3]);
    front.tokenAnswers.clear();
    now += 120_000;
    expect(await call(client)).toBe('bad');
    expect(lines.map(({ level }) => level)).toEqual([40, 30]);
  });

  test('that is refused for its calls alone does not hide the refusal of a page', async () => {
    for (const id of ['a', 'b']) front.answers.set(id, reply(403, '{}'));
    expect(await failure({}, create(['a', 'b']))).toMatchObject({ failure: 'refused', status: 403 });
    expect(front.requests).toHaveLength(1);
    expect(lines).toEqual([]);
  });
});

test('a 429 of all clients is a wait for the first that becomes free, after one call of each', async () => {
  const busy = (seconds: number) => reply(429, '', { 'retry-after': String(seconds) });
  front.answers.set('a', busy(600)).set('b', busy(7)).set('c', busy(60));
  const client = create(['a', 'b', 'c']);
  const refusal = { failure: 'busy', reason: 'own_budget', retryAfterMs: 7_000 };
  expect(await failure({}, client)).toMatchObject(refusal);
  expect(await failure({}, client)).toMatchObject(refusal);
  expect(front.requests.map(bearerClient).sort()).toEqual(['a', 'b', 'c']);
  now += 7_000;
  front.answers.clear();
  for (let calls = 0; calls < 3; calls++) expect(await call(client)).toBe('b');
});

test('when no client works calls fail soon, and succeed at once when one does again', async () => {
  const ids = ['bad', 'worse'];
  for (const id of ids) front.tokenAnswers.set(id, reply(401, '{}'));
  const client = create(ids);
  for (let calls = 0; calls < 5; calls++, now += 60_000) {
    expect(await failure({}, client)).toMatchObject({ failure: 'refused', status: 401 });
    expect(front.tokenRequests, 'each client at most once per call').toHaveLength((calls + 1) * ids.length);
  }
  front.tokenAnswers.clear();
  expect(ids).toContain(await call(client));
  now += 30_000;
  const clients = await Promise.all(Array.from({ length: 4 }, () => call(client)));
  expect(new Set(clients)).toEqual(new Set(ids));
  expect(lines.filter(({ level }) => level === 40)).toHaveLength(ids.length);
});
