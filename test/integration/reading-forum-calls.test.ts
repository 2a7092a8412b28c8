import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import { createUpstream } from '../../shared/upstream/upstream-client.ts';
import type { Upstream } from '../../shared/upstream/upstream-client.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { startTestApi } from '../support/test-api.ts';
import type { TestApi } from '../support/test-api.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { SITE_URL } from '../support/test-forum.ts';
import { listingOf } from '../support/upstream-samples.ts';

interface Answer {
  status: number;
  body?: object;
  location?: string;
}

let db: TestDatabase;
let server: Server;
let upstream: Upstream;
let api: TestApi;
let now: number;
/** Paths of the calls to the forum, tokens aside. */
const calls: string[] = [];
let answer: (request: IncomingMessage) => Answer;

beforeAll(async () => {
  db = await createTestDatabase();
  server = createServer((request, response) => {
    const isToken = request.url === '/token';
    if (!isToken) calls.push(request.url ?? '');
    const {
      status,
      body = {},
      location,
    } = isToken ? { status: 200, body: { access_token: 't', expires_in: 86_400 } } : answer(request);
    const headers = { 'content-type': 'application/json', ...(location === undefined ? {} : { location }) };
    response.writeHead(status, headers).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

beforeEach(async () => {
  now = Date.UTC(2026, 0, 5);
  calls.length = 0;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = () => now;
  upstream = createUpstream({
    url,
    tokenUrl: `${url}/token`,
    userAgent: 'test:calls:1 (by /u/tester)',
    clients: [{ id: 'id', secret: 'secret' }],
    clock,
    metrics: createMetrics(),
    logger: silentLogger(),
  });
  api = await startTestApi(db.pool, { forum: { upstream, siteUrl: SITE_URL, clock, disk: undefined } });
  return async () => {
    await api.stop();
    await upstream.stop();
  };
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await db.drop();
});

const NOT_FOUND: Answer = { status: 404, body: { message: 'Not Found', error: 404 } };

/** Each share link leads to another one, twice, and then to a post; what else is asked for does not exist. */
function threeHops({ url = '' }: IncomingMessage): Answer {
  const [, hop, code] = /^\/r\/rust\/s\/(x*)(\w+)\?/.exec(url) ?? [];
  if (hop === undefined) return { status: 200, body: listingOf() };
  const location = hop.length < 2 ? `/r/rust/s/${hop}x${code}` : `/r/rust/comments/${code}/a_post/`;
  return { status: 301, location: `${SITE_URL}${location}` };
}

const shareLinks = (count: number) => Array.from({ length: count }, (_, n) => `${SITE_URL}/r/rust/s/a${n}`).join(',');
const things = (key: string, ids: string) => api.call(key, 'GET', `/v1/forum/things?ids=${encodeURIComponent(ids)}`);

describe('share links', () => {
  it('are refused beyond five a request, before the forum is asked', async () => {
    answer = threeHops;
    const { apiKey } = await api.account();
    const refused = await things(apiKey, shareLinks(6));
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    expect(refused.body).toHaveProperty('error.message', expect.stringMatching(/^ids: .*5 share links/));
    expect(calls).toEqual([]);
    const urls = Array.from({ length: 100 }, (_, n) => `${SITE_URL}/r/rust/comments/a${n}/a_post/`);
    expect((await things(apiKey, urls.join(','))).status).toBe(200);
    expect(calls).toHaveLength(1);
  });

  it('are followed once: a hundred requests for five of them make the sixteen calls of the first, and one each', async () => {
    answer = threeHops;
    const { apiKey } = await api.account();
    expect((await things(apiKey, shareLinks(5))).status).toBe(200);
    expect(calls).toHaveLength(5 * 3 + 1);
    for (let request = 0; request < 99; request++) await things(apiKey, shareLinks(5));
    expect(calls).toHaveLength(5 * 3 + 100);
  });

  it('that lead nowhere are remembered too, for ten minutes', async () => {
    answer = () => NOT_FOUND;
    const { apiKey } = await api.account();
    for (let request = 0; request < 10; request++) {
      expect((await things(apiKey, shareLinks(5))).body).toMatchObject({
        items: [],
        missing: expect.any(Array) as unknown,
      });
    }
    expect(calls).toHaveLength(5);
    now += 600_001;
    await things(apiKey, shareLinks(5));
    expect(calls).toHaveLength(10);
  });
});
