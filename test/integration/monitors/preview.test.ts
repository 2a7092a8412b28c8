import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DiffAnswer, PreviewAnswer } from '../../../schemas/api/rules.ts';
import { insertItems } from '../../../shared/archive/archive-rows.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { countStatements } from '../../support/clients/count-statements.ts';
import { EventStreamParser } from '../../support/clients/event-stream-parser.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { forumItemOf } from '../../support/samples/forum-items.ts';

const DAY_MS = 86_400_000;
const TEN_MINUTES_MS = 600_000;
// About an hour ago, within the last 24 hours. The items of a day come within ten minutes that no midnight parts.
const LATELY = (Math.floor(Date.now() / TEN_MINUTES_MS) - 6) * TEN_MINUTES_MS;

let db: TestDatabase;
let archive: TestArchive;
let proxy: TcpProxy;
let clickhouse: ClickHouseClient;
let api: TestApi;
let owner: TestAccount;
let sent: { statements: number };

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  proxy = await TcpProxy.start(archive.url);
  clickhouse = createClickhouse(proxy.url, 'test');
  sent = countStatements(clickhouse);
  api = await startTestApi(db.pool, { clickhouse });
  owner = await api.account({ credits: 1_000, pack: 0 });
  await fill();
});

afterAll(async () => {
  await api.stop();
  await clickhouse.close();
  await proxy.stop();
  await archive.drop();
  await db.drop();
});

/** Three days with zinc: 250 comments of one thread on the first, two posts on the second, one on the third. */
async function fill(): Promise<void> {
  const at = (day: number, second = 0) => new Date(LATELY - day * DAY_MS + second * 1_000).toISOString();
  const seen = (first_seen_at: string) => ({ first_seen_at, created_utc: first_seen_at });
  const many = Array.from({ length: 250 }, (_, number) =>
    forumItemOf(`t1_many${number}`, {
      body: number < 30 ? 'zinc of the brewery, again' : 'The zinc of it',
      post_id: `thread${number % 20}`,
      ...seen(at(2, number)),
    }),
  );
  const others = [
    forumItemOf('t3_two', { title: 'Zinc and brass', body: 'none', subreddit: 'brass', ...seen(at(1)) }),
    forumItemOf('t3_three', { title: 'none', body: 'zinc', subreddit: 'brass', ...seen(at(1, 5)) }),
    forumItemOf('t1_one', { body: 'I like brass, not zinc', ...seen(at(0)) }),
    // Old when it was seen: the recorder refuses it.
    forumItemOf('t1_old', { body: 'zinc', first_seen_at: at(0, 9), created_utc: at(9) }),
    ...Array.from({ length: 300 }, (_, number) =>
      forumItemOf(`t1_else${number}`, { body: `nothing ${number}`, ...seen(at(0, number)) }),
    ),
  ];
  await insertItems(db.pool, archive.client, [...many, ...others]);
}

/** As another account each time, so that no limit is reached. */
async function preview(settings: object, more: object = {}, key?: string): Promise<Reply> {
  const apiKey = key ?? (await api.account({ pack: 0 })).apiKey;
  return api.call(apiKey, 'POST', '/v1/monitors/preview', { settings, ...more });
}

/** The same as a stream of events. */
const streamed = (settings: object, apiKey: string, more: RequestInit = {}): Promise<Response> =>
  fetch(`${api.url}/v1/monitors/preview`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ settings }),
    ...more,
  });

async function found(settings: object, more: object = {}): Promise<PreviewAnswer> {
  const reply = await preview(settings, more);
  expect(reply.status, reply.text).toBe(200);
  return reply.body as unknown as PreviewAnswer;
}

const dayOf = (day: number): string => new Date(LATELY - day * DAY_MS).toISOString().slice(0, 10);

describe('a preview', () => {
  test('counts all matches by day, keyword and community, and shows the newest with their places', async () => {
    const answer = await found({ keywords: ['zinc', 'brass'] });
    expect(answer).toMatchObject({
      total: 253,
      exact: true,
      by_day: [
        { day: dayOf(0), count: 1 },
        { day: dayOf(1), count: 2 },
        { day: dayOf(2), count: 250 },
      ],
      credits_per_30_days: 300,
    });
    expect(answer.by_keyword.map(({ keyword, count }) => `${keyword} ${count}`)).toEqual(['zinc 253', 'brass 2']);
    expect(answer.by_subreddit.map((of) => `${of.subreddit} ${of.count}`)).toEqual(['metals 251', 'brass 2']);
    expect(answer.samples).toHaveLength(20);
    expect(answer.samples.slice(0, 3).map(({ thing_id, highlights }) => [thing_id, highlights])).toEqual([
      [
        't1_one',
        [
          { field: 'body', start: 18, end: 22 },
          { field: 'body', start: 7, end: 12 },
        ],
      ],
      ['t3_three', [{ field: 'body', start: 0, end: 4 }]],
      [
        't3_two',
        [
          { field: 'title', start: 0, end: 4 },
          { field: 'title', start: 9, end: 14 },
        ],
      ],
    ]);
    expect(Date.parse(answer.exact_from)).toBeLessThan(Date.now() - 6.9 * DAY_MS);
    expect(answer.archive_from).toBe(new Date(LATELY - 2 * DAY_MS).toISOString());
    expect(await found({ keywords: ['zinc'] }, { days: 1 })).toMatchObject({ total: 1, capped_days: [] });
    expect((await found({ keywords: ['zinc'] })).capped_days, 'beyond the daily cap').toEqual([dayOf(2)]);
    expect((await found({ keywords: ['zinc'], thread_once: true })).capped_days).toEqual([]);
    await preview({ keywords: ['zinc'] }, {}, owner.apiKey);
    expect((await api.call(owner.apiKey, 'GET', '/v1/account')).body).toMatchObject({ balance: 1_000 });
    expect((await api.call(owner.apiKey, 'GET', '/v1/monitors')).body).toMatchObject({ items: [] });
  });

  test('gives the warnings of create, and suggestions with their counts', async () => {
    const { warnings, suggestions } = await found({ keywords: ['zinc', 'zinc OR brass'] });
    expect(warnings.map(({ code }) => code)).toContain('search_operator');
    expect(suggestions).toContainEqual(
      expect.objectContaining({ kind: 'exclude', value: 'brewery', matches: 30, matches_compared: 253 }),
    );
  });

  test.each([
    ['preview', 10, 0],
    ['previews', 500, 80_000],
  ])('is refused after the uses of the limit %s: %d', async (limit, uses, leastWait) => {
    const { apiKey, accountId } = await api.account({ pack: 79 });
    expect((await preview({ keywords: ['zinc'] }, { days: 1 }, apiKey)).status).toBe(200);
    const used = 'UPDATE recent_uses SET times = array_fill(service_now(), ARRAY[$2::integer]) WHERE name = $1';
    await db.pool.query(used, [`${limit}:${accountId}`, uses]);
    const { status, headers } = await preview({ keywords: ['zinc'] }, { days: 1 }, apiKey);
    expect([status, Number(headers.get('retry-after')) > leastWait]).toEqual([429, true]);
  });

  test('is possible once at a time for an account, whose others leave room for other accounts', async () => {
    const { apiKey } = await api.account({ pack: 79 });
    proxy.freeze();
    const before = sent.statements;
    const running = preview({ keywords: ['zinc'] }, {}, apiKey);
    await eventually('it has its place', () => sent.statements > before);
    const second = await preview({ keywords: ['zinc'] }, {}, apiKey);
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '5']);
    const other = preview({ keywords: ['zinc'] });
    await eventually('the other one has its place', () => sent.statements >= before + 2);
    proxy.thaw();
    expect([(await running).status, (await other).status]).toEqual([200, 200]);
    expect((await preview({ keywords: ['zinc'] }, {}, apiKey)).status).toBe(200);
  });

  test('ends when its client disconnects, and gives its place back', async () => {
    const { apiKey } = await api.account({ pack: 0 });
    const settings = { keywords: ['zinc'] };
    sent.statements = 0;
    await preview(settings, {}, apiKey);
    const whole = sent.statements;
    proxy.freeze();
    const client = new AbortController();
    const abandoned = streamed(settings, apiKey, { signal: client.signal }).then((reply) => reply.text());
    await eventually('it asks the archive', () => sent.statements > whole);
    client.abort();
    await expect(abandoned).rejects.toThrow();
    // The archive still hangs. Only a preview that has a place asks it, and waits for it.
    let again: Promise<Reply> | undefined;
    sent.statements = 0;
    const isFree = async () => {
      const asked = preview(settings, {}, apiKey);
      const answer = { isThere: false };
      void asked.then(() => (answer.isThere = true));
      while (!answer.isThere && sent.statements === 0) await delay(10);
      if (sent.statements > 0) again = asked;
      return again !== undefined;
    };
    // A read of an archive that hangs fails after 5 s.
    await eventually('its place is free', isFree, 4_000);
    proxy.thaw();
    expect((await again)?.status).toBe(200);
    expect(sent.statements, 'the abandoned one asks nothing more').toBe(whole);
  });

  test('streams its progress and at last the same answer', async () => {
    const { apiKey } = await api.account({ pack: 0 });
    const rule = { keywords: ['zinc', 'nothing'] };
    const reply = await streamed(rule, apiKey);
    expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const parser = new EventStreamParser();
    parser.push(Buffer.from(await reply.text()));
    const { type, data } = parser.events.at(-1)!;
    const { total, by_day, samples } = await found(rule);
    expect([type, JSON.parse(data)]).toMatchObject(['result', { total, by_day, samples, exact: true }]);
  });

  test('answers 503 with Retry-After while two others run, and while the archive is unavailable; then works again', async () => {
    proxy.freeze();
    const before = sent.statements;
    const running = [preview({ keywords: ['zinc'] }), preview({ keywords: ['zinc'] })];
    await eventually('both have their places', () => sent.statements >= before + 2);
    const third = await preview({ keywords: ['zinc'] });
    expect([third.status, third.body]).toMatchObject([503, { error: { code: 'service_unavailable' } }]);
    expect(third.headers.get('retry-after')).toBe('5');
    for (const reply of await Promise.all(running)) expect(reply.status).toBe(503);
    proxy.thaw();
    expect((await found({ keywords: ['zinc'] })).total).toBe(253);
  });
});

describe('the warnings of create', () => {
  const common = (message: RegExp) => ({
    field: 'keywords[0]',
    code: 'common_word',
    message: expect.stringMatching(message) as string,
  });

  test('say which share of the archive a keyword has', async () => {
    const { apiKey } = await api.account();
    const { id } = await api.monitor(apiKey, { keywords: ['nothing', 'zinc'] });
    // The first look may take longer than a request waits.
    const warnings = await eventually('the archive was sampled', async () => {
      const { body } = await api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, {});
      return JSON.stringify(body.warnings ?? []).includes('nothing') && body.warnings;
    });
    expect(warnings).toContainEqual(common(/^"nothing" is in about \d+ % of the latest \d+ items in the archive/));
  });

  test('are those of common words while the archive hangs, which delays and fails nothing', async () => {
    proxy.freeze();
    const slow = await startTestApi(db.pool, { clickhouse });
    const { apiKey } = await slow.account();
    const reply = await slow.call(apiKey, 'POST', '/v1/monitors', { name: 'fruit', keywords: ['the', 'zinc'] });
    proxy.thaw();
    await slow.stop();
    expect([reply.status, reply.body.warnings]).toEqual([201, [common(/^"the" is in about 40 % of all items/)]]);
  });
});

describe('a comparison', () => {
  async function compared(changes: object): Promise<DiffAnswer> {
    const { apiKey } = await api.account({ pack: 79 });
    const { id } = await api.monitor(apiKey, { name: 'mine', keywords: ['zinc'], subreddits: ['brass', 'metals'] });
    const reply = await api.call(apiKey, 'POST', `/v1/monitors/${id}/diff`, { changes });
    expect(reply.status, reply.text).toBe(200);
    return reply.body as unknown as DiffAnswer;
  }

  test('counts what a change would gain and lose', async () => {
    const answer = await compared({ keywords: ['brass', 'nothing'], nsfw: true });
    expect(answer).toMatchObject({ gained: { total: 300 }, lost: { total: 251 }, kept: { total: 2 }, exact: true });
    expect(answer.gained.samples[0]).toMatchObject({ thing_id: 't1_else299', matched_terms: ['nothing'] });
    expect(answer.lost.samples[0]).toMatchObject({ thing_id: 't3_three', matched_terms: ['zinc'] });
    expect(await compared({ name: 'another' })).toMatchObject({ gained: { total: 0 }, lost: { total: 0 } });
    expect(await compared({ exclude: ['brewery'] })).toMatchObject({ gained: { total: 0 }, lost: { total: 30 } });
  });

  test('leaves out what the monitor has muted, and refuses faulty changes by their names', async () => {
    const { apiKey } = await api.account({ pack: 79 });
    const { id } = await api.monitor(apiKey, { name: 'mine', keywords: ['zinc'] });
    await api.call(apiKey, 'POST', `/v1/monitors/${id}/mutes`, { kind: 'subreddit', value: 'metals' });
    const reply = await api.call(apiKey, 'POST', `/v1/monitors/${id}/diff`, { changes: { keywords: ['lead'] } });
    expect(reply.body).toMatchObject({ lost: { total: 2 } });
    const faulty = await api.call(apiKey, 'POST', `/v1/monitors/${id}/diff`, { changes: { keywords: ['x'] } });
    expect(JSON.stringify(faulty.body)).toContain('"changes.keywords[0]: ');
  });
});
