import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { createUpstream } from '../../../shared/forum-client/upstream-client.ts';
import type { Upstream } from '../../../shared/forum-client/upstream-client.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { SITE_URL } from '../../support/fakes/test-forum.ts';
import { COMMENT, listingOf, nodeOf, POST } from '../../support/samples/upstream-samples.ts';

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
/** Paths of the calls to the forum, except for tokens. */
const calls: string[] = [];
/** undefined: never. */
let answer: (request: IncomingMessage) => Answer | undefined;
const TOKEN: Answer = { status: 200, body: { access_token: 't', expires_in: 86_400 } };
let tokenAnswer: Answer;
/** Calls that were aborted before their response. */
let abortedCalls: number;

beforeAll(async () => {
  db = await createTestDatabase();
  server = createServer((request, response) => {
    const isToken = request.url === '/token';
    if (!isToken) calls.push(request.url ?? '');
    const found = isToken ? tokenAnswer : answer(request);
    if (found === undefined) {
      response.once('close', () => (abortedCalls += 1));
      return;
    }
    const { status, body = {}, location }: Answer = found;
    const headers = { 'content-type': 'application/json', ...(location === undefined ? {} : { location }) };
    response.writeHead(status, headers).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

beforeEach(async () => {
  now = Date.UTC(2026, 0, 5);
  tokenAnswer = TOKEN;
  calls.length = 0;
  abortedCalls = 0;
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

/** A thread with two thousand comments, all of them in stubs. */
function manyStubs(): object {
  const children = Array.from({ length: 2_000 }, (_, n) => `c${n.toString(36)}`);
  const more = {
    count: children.length,
    children,
    id: children[0],
    name: `t1_${children[0]}`,
    parent_id: POST.name,
    depth: 0,
  };
  return [listingOf(nodeOf('t3', POST)), listingOf(nodeOf('more', more))];
}

/** Each share link leads to another one, twice, and then to a post. Nothing else exists. */
function threeHops({ url = '' }: IncomingMessage): Answer {
  const [, hop, code] = /^\/r\/rust\/s\/(x*)(\w+)\?/.exec(url) ?? [];
  if (hop === undefined) return { status: 200, body: listingOf() };
  const location = hop.length < 2 ? `/r/rust/s/${hop}x${code}` : `/r/rust/comments/${code}/a_post/`;
  return { status: 301, location: `${SITE_URL}${location}` };
}

const shareLinks = (count: number) => Array.from({ length: count }, (_, n) => `${SITE_URL}/r/rust/s/a${n}`).join(',');
const things = (key: string, ids: string) => api.call(key, 'GET', `/v1/forum/things?ids=${encodeURIComponent(ids)}`);

describe('share links', () => {
  test('are limited to five a request, before any call to the forum', async () => {
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

  test('are followed once: a hundred requests for the same five make sixteen calls for the first and one for each other', async () => {
    answer = threeHops;
    const { apiKey } = await api.account();
    expect((await things(apiKey, shareLinks(5))).status).toBe(200);
    expect(calls).toHaveLength(5 * 3 + 1);
    for (let request = 0; request < 99; request++) await things(apiKey, shareLinks(5));
    expect(calls).toHaveLength(5 * 3 + 100);
  });
});

describe('a forum that does not accept us', () => {
  const refusals = (key: string, paths: readonly string[]) =>
    Promise.all(paths.map((path) => api.call(key, 'GET', `/v1/forum/${path}`)));

  test.each([
    [403, 'Forbidden'],
    [404, 'Not Found'],
  ])('%i to a token request tells nothing about what is asked for, and costs nothing', async (status, message) => {
    tokenAnswer = { status, body: { message, error: status } };
    answer = () => NOT_FOUND;
    const { apiKey } = await api.account();
    const paths = ['post?id=abc', 'subreddit?sub=rust', 'user?name=ada', 'search?q=x&sub=rust', 'things?ids=t3_abc'];
    for (const reply of await refusals(apiKey, paths)) {
      expect(reply).toMatchObject({ status: 503, body: { error: { code: 'upstream_error', retryable: true } } });
    }
    expect(calls).toEqual([]);
    tokenAnswer = TOKEN;
    now += 60_000;
    // No refusal of a token was kept as one of the post.
    expect((await api.call(apiKey, 'GET', '/v1/forum/post?id=abc')).status).toBe(404);
    const { body } = await api.call(apiKey, 'GET', '/v1/account');
    expect(body).toMatchObject({ balance: 1_000 });
  });
});

test('a refusal without a reason is no answer, and costs nothing', async () => {
  answer = () => ({ status: 403, body: { message: 'Forbidden', error: 403 } });
  const { apiKey } = await api.account();
  for (const path of ['things?ids=t3_abc', 'search?q=x&sub=rust']) {
    const reply = await api.call(apiKey, 'GET', `/v1/forum/${path}`);
    expect(reply).toMatchObject({ status: 503, body: { error: { code: 'upstream_error' } } });
    expect(reply.headers.get('x-credits-used')).toBeNull();
  }
});

test('the name of no community, from which the forum leads to one, is a 404 that is kept for a minute', async () => {
  answer = () => ({ status: 302, location: '/r/metals/hot.json' });
  const { apiKey } = await api.account();
  const read = () => api.call(apiKey, 'GET', '/v1/forum/subreddit?sub=random');
  for (let request = 0; request < 10; request++) {
    expect(await read()).toMatchObject({ status: 404, body: { error: { code: 'not_found', retryable: false } } });
  }
  expect(calls).toHaveLength(1);
  now += 60_001;
  await read();
  expect(calls).toHaveLength(2);
});

describe('requests that are not charged', () => {
  test('count their calls against the account: two hundred a minute, then 429 with Retry-After, while others are served', async () => {
    answer = () => NOT_FOUND;
    const { apiKey } = await api.account({ credits: 10 });
    const about = (key: string, n: number) => api.call(key, 'GET', `/v1/forum/subreddit/about?sub=unknown${n}`);
    const statuses: number[] = [];
    for (let request = 0; request < 120; request++) statuses.push((await about(apiKey, request)).status);
    // Two calls each, about and rules.
    expect(calls).toHaveLength(200);
    expect(statuses).toEqual([...Array<number>(100).fill(404), ...Array<number>(20).fill(429)]);
    const refused = await about(apiKey, 1_000);
    expect(refused.body).toMatchObject({ error: { code: 'rate_limited', retry_after: expect.any(Number) as unknown } });
    expect(refused.headers.get('retry-after')).not.toBeNull();
    const other = await api.account();
    expect((await about(other.apiKey, 2_000)).status).toBe(404);
    now += 60_000;
    expect((await about(apiKey, 3_000)).status).toBe(404);
  });

  test('stop when the client disconnects: no further call is made for a thread that nobody waits for', async () => {
    const abandon = new AbortController();
    answer = ({ url = '' }) => (url.startsWith('/comments/') ? { status: 200, body: manyStubs() } : undefined);
    const { apiKey } = await api.account();
    const headers = { authorization: `Bearer ${apiKey}` };
    const asked = fetch(`${api.url}/v1/forum/post?id=1abcde&max_comments=2000`, { headers, signal: abandon.signal });
    await Promise.all([
      expect(asked).rejects.toThrow(),
      eventually('the first pages are requested', () => calls.length === 2).then(() => abandon.abort()),
    ]);
    await eventually('the call in flight is aborted', () => abortedCalls === 1);
    answer = threeHops;
    const { apiKey: other } = await api.account();
    await things(other, 't3_1abcde');
    // The thread, the first call of a wave, for which the others wait, and the request of the other account.
    expect(calls).toHaveLength(1 + 1 + 1);
  });
});

describe('comments by id', () => {
  /** /api/info at its barest: comments have no fields of their post. */
  const scarce = ({ url = '' }: IncomingMessage): Answer => {
    const ids = new URL(url, 'http://forum').searchParams.get('id')?.split(',') ?? [];
    const things = ids.map((name) => {
      const kind = name.slice(0, 2);
      const fields = { id: name.slice(3), name, link_title: '', link_author: null, is_submitter: null };
      return kind === 't3'
        ? { kind, data: { ...POST, ...fields, title: `Post ${name}`, author: 'smith' } }
        : { kind, data: { ...COMMENT, ...fields, link_id: 't3_p1', author: name === 't1_c1' ? 'smith' : 'jones' } };
    });
    return { status: 200, body: listingOf(...things) };
  };

  test('get the title of their post and is_submitter by one further call', async () => {
    answer = scarce;
    const { apiKey } = await api.account();
    const { body } = await things(apiKey, 't1_c1,t1_c2');
    expect(body).toMatchObject({
      items: [
        { comment: { name: 't1_c1', post_title: 'Post t3_p1', is_submitter: true } },
        { comment: { name: 't1_c2', post_title: 'Post t3_p1', is_submitter: false } },
      ],
    });
    expect(calls).toHaveLength(2);
  });
});
