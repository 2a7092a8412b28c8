import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let id: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
beforeEach(async () => {
  owner = await api.account();
  id = (await api.monitor(owner.apiKey)).id;
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const call = (method: string, rest = '', body?: unknown, monitor = id) =>
  api.call(owner.apiKey, method, `/v1/monitors/${monitor}/mutes${rest}`, body);
const muteOf = (reply: Reply) => reply.body.mute as { id: string; kind: string; value: string };

function refusal(reply: Reply): [number, string] {
  const { code, message } = reply.body.error as { code: string; message: string };
  return [reply.status, `${code} ${message}`];
}

async function record(thingId: string, monitorId = id): Promise<number> {
  const { matches } = await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidateOf({ monitorId, thingId })]);
  return matches.length;
}

test.each([
  ['subreddit', 'r/Rust', 'rust'],
  ['subreddit', '/r/u_Some-Body', 'u_some-body'],
  ['author', ' u/Ana_B ', 'ana_b'],
  ['thread', '1B6xk0p', 't3_1b6xk0p'],
  ['author', 'https://old.example.com/user/Ana_B?sort=new', 'ana_b'],
  ['thread', 'https://www.example.com/r/Coffee/comments/1b6xk0p/how_fine/', 't3_1b6xk0p'],
  ['thread', 'example.com/comments/1b6xk0p/_/k2cd41z?context=3', 't3_1b6xk0p'],
])('mutes the %s %j as %j, and answers the existing mute when it is repeated', async (kind, value, stored) => {
  const added = await call('POST', '', { kind, value });
  expect([added.status, muteOf(added)]).toMatchObject([201, { kind, value: stored }]);
  const again = await call('POST', '', { kind, value: stored });
  expect([again.status, again.body]).toEqual([200, added.body]);
  expect((await call('GET')).body).toEqual({ items: [added.body.mute], limit: 500 });
  expect((await call('DELETE', `/${muteOf(added).id}`)).body).toEqual({ status: 'deleted' });
  expect((await call('GET')).body).toEqual({ items: [], limit: 500 });
  expect((await api.call(owner.apiKey, 'GET', '/v1/account')).body.balance).toBe(990);
});

test.each([
  [undefined, 'kind'],
  [{ kind: 'author', value: 'a\0b' }, 'value'],
  [{ kind: 'subreddit', value: 'https://example.com/r/a/comments/1b6xk0p/' }, 'value'],
  [{ kind: 'thread', value: 't1_k2cd41z' }, 'value'],
  [{ kind: 'thread', value: 'https://elsewhere.org/comments/1b6xk0p' }, 'value'],
])('refuses %j', async (body, field) => {
  const [status, message] = refusal(await call('POST', '', body));
  expect([status, message.startsWith(`invalid_request ${field}: `)]).toEqual([400, true]);
  expect((await call('GET')).body.items).toEqual([]);
});

test('of other monitors and unknown ones are not found', async () => {
  const mute = muteOf(await call('POST', '', { kind: 'author', value: 'ana' }));
  const { id: mine } = await api.monitor(owner.apiKey);
  for (const rest of ['/mute_000000000000', '/x', `/${'ü'.repeat(300)}`, '/%00']) {
    expect(refusal(await call('DELETE', rest))).toEqual([404, 'not_found No such mute.']);
  }
  expect(refusal(await call('DELETE', `/${mute.id}`, undefined, mine))).toEqual([404, 'not_found No such mute.']);
  expect((await call('GET')).body.items).toHaveLength(1);
});

test('are at most 500 of a monitor, also when they are added at once; existing ones are still answered', async () => {
  await db.pool.query(
    `INSERT INTO monitor_mutes (id, monitor_id, kind, value)
     SELECT $1 || n, $1, 'author', 'name_' || n FROM generate_series(1, 498) AS n`,
    [id],
  );
  const same = await Promise.all(Array.from({ length: 8 }, () => call('POST', '', { kind: 'thread', value: 't3_x' })));
  expect(same.map(({ status }) => status).toSorted()).toEqual([...Array<number>(7).fill(200), 201]);
  expect(new Set(same.map((reply) => muteOf(reply).id)).size).toBe(1);
  const more = ['a', 'b', 'c', 'd', 'e', 'f'].map((value) => call('POST', '', { kind: 'author', value }));
  const statuses = (await Promise.all(more)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([201, 400, 400, 400, 400, 400]);
  expect((await call('POST', '', { kind: 'author', value: 'Name_7' })).status).toBe(200);
  expect((await call('GET')).body.items).toHaveLength(500);
});

// Of what `candidateOf` makes: posts and comments in r/metals by smith, comments below the post `parent`.
test.each([
  ['subreddit', 'r/METALS', ['t3_a', 't1_b'], []],
  ['author', 'Smith', ['t3_a', 't1_b'], []],
  ['thread', 'parent', ['t1_b'], ['t3_a']],
  ['thread', 't3_a', ['t3_a'], ['t1_b']],
  ['subreddit', 'metal', [], ['t3_a', 't1_b']],
])('nothing muted by %s %s is recorded after the answer, and everything again without the mute', async (...row) => {
  const [kind, value, muted, others] = row;
  const { id: another } = await api.monitor(owner.apiKey);
  await db.moveToNoon(0);
  onTestFinished(() => db.setShift('0'));
  const mute = muteOf(await call('POST', '', { kind, value }));
  for (const thing of muted) expect([thing, await record(thing)]).toEqual([thing, 0]);
  for (const thing of others) expect([thing, await record(thing)]).toEqual([thing, 1]);
  for (const thing of muted) expect([thing, await record(thing, another)]).toEqual([thing, 1]);
  const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}`);
  expect(body.stats).toMatchObject({ matches_today: others.length, suppressed_today: 0 });
  await call('DELETE', `/${mute.id}`);
  for (const thing of muted) expect([thing, await record(thing)]).toEqual([thing, 1]);
});

test('a mute waits for a batch that is being recorded, and the next batch for the mute', async () => {
  const recorder = await db.pool.connect();
  await recorder.query('BEGIN');
  await recorder.query('SELECT FROM monitor_counters WHERE monitor_id = $1 FOR UPDATE', [id]);
  let isAnswered = false;
  const muting = call('POST', '', { kind: 'author', value: 'smith' }).then(() => (isAnswered = true));
  const recording = record('t1_z');
  await db.pool.query('SELECT pg_sleep(0.2)');
  expect(isAnswered).toBe(false);
  await recorder.query('COMMIT');
  recorder.release();
  await muting;
  await recording;
  expect(await record('t1_y')).toBe(0);
});
