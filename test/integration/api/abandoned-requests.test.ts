import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
/** The forum answers once this resolves. */
let answering = Promise.resolve();
let asked = 0;

beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  const { upstream } = forum.forum;
  const get: typeof upstream.get = async (...call) => {
    asked++;
    await answering;
    return upstream.get(...call);
  };
  api = await startTestApi(db.pool, { forum: { ...forum.forum, upstream: { ...upstream, get } } });
});

afterAll(async () => {
  await api.stop();
  await forum.stop();
  await db.drop();
});

async function somePost(): Promise<string> {
  const { apiKey } = await api.account();
  const { body } = await api.call(apiKey, 'GET', '/v1/forum/subreddit/comments?sub=coffee&limit=1');
  return (body.items as { post_id: string }[])[0]!.post_id;
}

const answersOf = async (route: string) => {
  const text = await api.metrics.registry.getSingleMetricAsString('http_requests_total');
  return text.split('\n').filter((line) => line.includes(`route="${route}"`)).length;
};

test.each(['/v1/forum/subreddits?sort=new', '/v1/forum/post?id=POST'])(
  'a client that disconnects before %s is ready pays nothing; repeating the request is charged once',
  async (pattern) => {
    const path = pattern.replace('POST', await somePost());
    const { apiKey, accountId } = await api.account({ credits: 50 });
    let answer = (): void => undefined;
    answering = new Promise((resolve) => (answer = resolve));
    const before = asked;
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`);
    await eventually('the forum is asked', () => asked > before);
    socket.destroy();
    await eventually('the API notices', async () => (await answersOf(path.split('?')[0]!)) > 0);
    answer();
    const again = await api.call(apiKey, 'GET', path);
    expect([again.status, again.headers.get('x-credits-used')]).toEqual([200, '1']);
    const { rows } = await db.pool.query<{ kind: string; amount: number }>(
      'SELECT kind, amount FROM ledger_entries WHERE account_id = $1 ORDER BY id',
      [accountId],
    );
    expect(rows).toEqual([
      { kind: 'grant', amount: 50 },
      { kind: 'read', amount: -1 },
    ]);
  },
);
