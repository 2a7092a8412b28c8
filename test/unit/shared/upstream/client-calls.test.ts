import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLogger } from '../../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import type { Upstream, UpstreamCall, UpstreamDeps } from '../../../../shared/upstream/upstream-client.ts';
import { createUpstream } from '../../../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

type Answer = { status: number; headers?: Record<string, string> } | 'never';

/** The forum over HTTP, which answers each OAuth client as the test says. Tokens are `<client>/<number>`. */
class ForumOfClients {
  /** By client; default: a token. */
  readonly tokenAnswers = new Map<string, Answer>();
  /** By client; default: 200. */
  readonly answers = new Map<string, Answer>();
  /** The clients whose requests arrived, in order. */
  readonly tokenRequests: string[] = [];
  readonly calls: string[] = [];
  url = '';
  private tokens = 0;
  private readonly server = createServer((request, response) => {
    const isToken = request.url === '/token';
    const client = isToken ? basicClient(request) : bearerClient(request);
    (isToken ? this.tokenRequests : this.calls).push(client);
    const body = isToken ? { access_token: `${client}/${++this.tokens}`, expires_in: 36_000 } : { client };
    reply(response, (isToken ? this.tokenAnswers : this.answers).get(client) ?? { status: 200 }, body);
  });

  async start(): Promise<void> {
    this.url = await listen(this.server);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  reset(): void {
    for (const state of [this.tokenAnswers, this.answers]) state.clear();
    this.tokenRequests.length = 0;
    this.calls.length = 0;
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function basicClient({ headers }: IncomingMessage): string {
  const credentials = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString();
  return credentials.split(':')[0] ?? '';
}

function bearerClient({ headers }: IncomingMessage): string {
  return headers.authorization?.slice('Bearer '.length).split('/')[0] ?? '';
}

function reply(response: ServerResponse, answer: Answer, body: object): void {
  if (answer === 'never') return;
  response.writeHead(answer.status, { ...JSON_TYPE, ...answer.headers }).end(JSON.stringify(body));
}

const forum = new ForumOfClients();
let now: number;
let lines: { level: number; client?: string; msg: string }[];
let log: string;
let upstream: Upstream | undefined;

beforeAll(() => forum.start());
beforeEach(() => {
  now = 1_000_000;
  lines = [];
  log = '';
  forum.reset();
  return async () => {
    await upstream?.stop();
    upstream = undefined;
  };
});
afterAll(() => {
  forum.stop();
});

function create(clients: readonly string[], deps: Partial<UpstreamDeps> = {}): Upstream {
  const write = (line: string): void => {
    log += line;
    const entry = JSON.parse(line) as (typeof lines)[number];
    if (entry.level >= 30) lines.push(entry);
  };
  upstream = createUpstream({
    url: forum.url,
    tokenUrl: `${forum.url}/token`,
    userAgent: 'test:client:1 (by /u/test)',
    clients: clients.map((id) => ({ id, secret: `hush-${id}` })),
    clock: () => now,
    metrics: createMetrics(),
    logger: createLogger('debug', { write }),
    ...deps,
  });
  return upstream;
}

/** Makes a call and returns the client that made it. */
async function call(client: Upstream, options: Partial<UpstreamCall> = {}): Promise<unknown> {
  const body = (await client.get('/x', {}, { endpoint: 'x', ...options })) as { client: string };
  return body.client;
}

async function failure(client: Upstream): Promise<UpstreamError> {
  const error: unknown = await call(client).catch((caught: unknown) => caught);
  if (!(error instanceof UpstreamError)) throw new Error(`not an UpstreamError: ${String(error)}`);
  return error;
}

const BAD_CLIENT: [string, () => void][] = [
  ['whose secret was revoked', () => forum.tokenAnswers.set('bad', { status: 401 })],
  ['whose token request is never answered', () => forum.tokenAnswers.set('bad', 'never')],
  ['whose token request fails', () => forum.tokenAnswers.set('bad', { status: 503 })],
  ['whose fresh tokens are rejected', () => forum.answers.set('bad', { status: 401 })],
];

describe('one client of several', () => {
  test.each(BAD_CLIENT)('%s costs no call: the other one makes all of them', async (_, spoil) => {
    spoil();
    const client = create(['bad', 'good'], { tokenPatienceMs: 50 });
    for (let calls = 0; calls < 12; calls++) expect(await call(client)).toBe('good');
    expect(forum.tokenRequests.filter((id) => id === 'bad').length).toBeLessThanOrEqual(2);
    expect(lines.map(({ client: id, level }) => [id, level])).toEqual([['bad', 40]]);
    expect(log).not.toContain('hush');
  });

  test('that fails is tried again after 30 s, then 60 s, and used again once it works', async () => {
    forum.tokenAnswers.set('bad', { status: 401 });
    const client = create(['bad', 'b']);
    const requests = () => forum.tokenRequests.filter((id) => id === 'bad').length;
    const counts: number[] = [];
    for (const pastMs of [0, 29_999, 1, 59_999, 1]) {
      now += pastMs;
      await call(client);
      counts.push(requests());
    }
    expect(counts).toEqual([1, 1, 2, 2, 3]);
    forum.tokenAnswers.clear();
    now += 120_000;
    expect(await call(client)).toBe('bad');
    expect(lines.map(({ level }) => level)).toEqual([40, 30]);
  });

  test('that gets no answer to its token request delays a call once', async () => {
    forum.tokenAnswers.set('bad', 'never');
    const client = create(['bad', 'b'], { tokenPatienceMs: 300 });
    const startedAt = performance.now();
    expect(await call(client)).toBe('b');
    expect(performance.now() - startedAt).toBeGreaterThan(290);
    expect(await Promise.all(Array.from({ length: 20 }, () => call(client, { deadlineMs: 60_000 })))).not.toContain(
      'bad',
    );
    expect(forum.tokenRequests.filter((id) => id === 'bad')).toHaveLength(1);
  });

  test('that is refused for its calls alone does not hide the refusal of a page', async () => {
    for (const id of ['a', 'b']) forum.answers.set(id, { status: 403 });
    expect(await failure(create(['a', 'b']))).toMatchObject({ failure: 'refused', status: 403 });
    expect(forum.calls).toHaveLength(1);
    expect(lines).toEqual([]);
  });
});

describe('a 429', () => {
  const busy = (seconds: number): Answer => ({ status: 429, headers: { 'retry-after': String(seconds) } });

  test('of one client lets another one make the call', async () => {
    forum.answers.set('a', busy(600));
    const client = create(['a', 'b']);
    for (let calls = 0; calls < 5; calls++) expect(await call(client)).toBe('b');
    expect(forum.calls.filter((id) => id === 'a')).toHaveLength(1);
  });

  test('of all clients is a wait for the first that becomes free, after one call of each', async () => {
    forum.answers.set('a', busy(600)).set('b', busy(7)).set('c', busy(60));
    const client = create(['a', 'b', 'c']);
    const refusal = { failure: 'busy', reason: 'own_budget', retryAfterMs: 7_000 };
    expect(await failure(client)).toMatchObject(refusal);
    expect(await failure(client)).toMatchObject(refusal);
    expect([...forum.calls].sort()).toEqual(['a', 'b', 'c']);
    now += 7_000;
    forum.answers.clear();
    expect(await call(client)).toBe('b');
  });
});

describe('when no client works', () => {
  test.each([[['bad']], [['bad', 'worse']]])(
    'calls of %j fail soon and succeed at once when one does again',
    async (ids) => {
      for (const id of ids) forum.tokenAnswers.set(id, { status: 401 });
      const client = create(ids);
      for (let calls = 0; calls < 5; calls++, now += 60_000) {
        expect(await failure(client)).toMatchObject({ failure: 'refused', status: 401 });
        expect(forum.tokenRequests, 'each client at most once per call').toHaveLength((calls + 1) * ids.length);
      }
      forum.tokenAnswers.clear();
      expect(ids).toContain(await call(client));
      now += 30_000;
      const clients = await Promise.all(Array.from({ length: 4 }, () => call(client)));
      expect(new Set(clients)).toEqual(new Set(ids));
      expect(lines.filter(({ level }) => level === 40)).toHaveLength(ids.length);
    },
  );
});
