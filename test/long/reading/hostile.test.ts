import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { createUpstream } from '../../../shared/forum-client/upstream-client.ts';
import type { Upstream } from '../../../shared/forum-client/upstream-client.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { SITE_URL } from '../../support/fakes/test-forum.ts';

let db: TestDatabase;
let server: Server;
let upstream: Upstream;
let api: TestApi;
let reader: TestAccount;
let answer: RequestListener;

const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' };
const EMPTY_LISTING = '{"kind":"Listing","data":{"after":null,"children":[]}}';
const EMPTY: RequestListener = (_, response) => response.writeHead(200, JSON_TYPE).end(EMPTY_LISTING);

const ROUTES = [
  'post?id=abc',
  'post/duplicates?id=abc',
  'things?ids=t3_abc',
  'subreddit?sub=metals',
  'subreddit/about?sub=metals',
  'subreddit/comments?sub=metals',
  'subreddits',
  'user?name=smith',
  'user/posts?name=smith',
  'user/comments?name=smith',
  'search?q=rust',
];

beforeAll(async () => {
  db = await createTestDatabase();
  server = createServer((request, response) => {
    if (request.url === '/token') response.writeHead(200, JSON_TYPE).end('{"access_token":"t","expires_in":86400}');
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  upstream = createUpstream({
    url,
    tokenUrl: `${url}/token`,
    userAgent: 'test:hostile:1 (by /u/tester)',
    clients: [{ id: 'id', secret: 'secret' }],
    clock: systemClock,
    metrics: createMetrics(),
    logger: silentLogger(),
  });
  api = await startTestApi(db.pool, { forum: { upstream, siteUrl: SITE_URL, clock: systemClock, disk: undefined } });
  reader = await api.account({ credits: 100_000 });
});

afterAll(async () => {
  await api.stop();
  await upstream.stop();
  server.closeAllConnections();
  server.close();
  await db.drop();
});

const HOSTILE: [string, RequestListener][] = [
  [
    'cut in the middle',
    (_, response) =>
      response
        .writeHead(200, { ...JSON_TYPE, 'content-length': '5000' })
        .write(EMPTY_LISTING.slice(0, 30), () => response.destroy()),
  ],
  ['broken JSON', (_, response) => response.writeHead(200, JSON_TYPE).end('{"kind":"Listing","data":{')],
  ['HTML as JSON', (_, response) => response.writeHead(200, JSON_TYPE).end('<html>blocked</html>')],
  ['HTML', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')],
  ['nothing', (_, response) => response.writeHead(200, JSON_TYPE).end()],
  ['null', (_, response) => response.writeHead(200, JSON_TYPE).end('null')],
  ['a list of lists', (_, response) => response.writeHead(200, JSON_TYPE).end('[[[]]]')],
  ['another shape', (_, response) => response.writeHead(200, JSON_TYPE).end('{"kind":"t9","data":{"children":{}}}')],
  ['500', (_, response) => response.writeHead(500, { 'content-type': 'text/html' }).end('oops')],
  ['a block', (_, response) => response.writeHead(403, { 'content-type': 'text/html' }).end('<html>')],
  ['401', (_, response) => response.writeHead(401, JSON_TYPE).end('{"message":"Unauthorized","error":401}')],
  ['no connection', (request) => request.socket.destroy()],
  [
    'a body over the limit',
    (_, response) => {
      response.writeHead(200, JSON_TYPE);
      const chunk = Buffer.alloc(1 << 20, 0x20);
      let left = 40;
      const more = () => {
        while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', more);
        response.end();
      };
      more();
    },
  ],
];

describe('hostile responses of the forum', () => {
  test.each(HOSTILE)('%s becomes 503 without a charge or details', async (_, hostile) => {
    answer = hostile;
    const replies = await Promise.all(ROUTES.map((route) => api.call(reader.apiKey, 'GET', `/v1/forum/${route}`)));
    for (const [index, reply] of replies.entries()) {
      const { error } = errorEnvelope.parse(reply.body);
      expect([ROUTES[index], reply.status, error.retryable]).toEqual([ROUTES[index], 503, true]);
      expect(error.message).not.toMatch(/127\.0\.0\.1|at |Error|zod/);
      expect(reply.headers.get('x-credits-used')).toBeNull();
    }
  });

  test('answers a timeout after ten seconds of silence', async () => {
    answer = () => undefined;
    const replies = await Promise.all(
      ROUTES.map((route) => api.call(reader.apiKey, 'GET', `/v1/forum/${route}${route.includes('?') ? '&' : '?'}`)),
    );
    for (const { status, body } of replies) {
      expect([status, errorEnvelope.parse(body).error.code]).toEqual([503, 'upstream_timeout']);
    }
  });
});

describe('hostile requests', () => {
  test('are answered with 2xx, or with 4xx and the error envelope, never 500', async () => {
    answer = EMPTY;
    const names =
      'url id ids sub name q sort t limit after nsfw type format comment context max_comments x __proto__'.split(' ');
    const value = fc.oneof(
      fc.constantFrom(
        '',
        '0',
        '1',
        '-1',
        '1e9',
        '100',
        '101',
        'true',
        't3_abc',
        't1_abc',
        'abc',
        'r/metals',
        'hot',
        'new',
        'top',
        'day',
        'md',
        'graph',
        'https://www.reddit.com/comments/abc',
        '../../x',
        '%00',
        "' OR 1=1",
        'ａ',
        '\ud800',
      ),
      fc.string({ unit: 'binary', maxLength: 40 }),
    );
    const query = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 5 });
    const paths = [...ROUTES.map((route) => route.replace(/\?.*/, '')), 'search/comments', 'nothing'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), query, async (path, pairs) => {
        const search = new URLSearchParams(pairs.map(([name, text]): [string, string] => [name, text.toWellFormed()]));
        const reply = await api.call(reader.apiKey, 'GET', `/v1/forum/${path}?${search.toString()}`);
        // The forum of this test has no post, user or community. Its only response is an empty page.
        expect([200, 400, 404, 503]).toContain(reply.status);
        if (reply.status !== 200) errorEnvelope.parse(reply.body);
      }),
      { numRuns: 200 },
    );
  }, 120_000);
});
