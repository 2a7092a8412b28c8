import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/error-envelope.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { refusedState } from '../../support/fixtures/refused-state.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

let db: TestDatabase;
let api: TestApi;
let receiver: WebhookReceiver;
let owner: TestAccount;
let id: string;
const MATCHES = 205;

beforeAll(async () => {
  db = await createTestDatabase();
  receiver = await startWebhookReceiver();
  api = await startTestApi(db.pool, { allowPrivate: true, lookup: () => Promise.resolve(['127.0.0.1']) });
  owner = await api.account();
  id = (await api.monitor(owner.apiKey, { webhook_url: receiver.url })).id;
  const candidates = Array.from({ length: MATCHES }, (_, at) =>
    candidateOf({ monitorId: id, thingId: `t3_page${at}` }),
  );
  await recordBatch({ pool: db.pool, toleranceMs: 0 }, candidates);
});
afterAll(async () => {
  await api.stop();
  await receiver.stop();
  await db.drop();
});

function codeOf(reply: Reply): [number, string] {
  const { error } = errorEnvelope.parse(reply.body);
  expect(error.retryable).toBe(reply.status === 429);
  expect(reply.headers.get('x-credits-used')).toBeNull();
  return [reply.status, error.code];
}

const BY_ID = [
  ['GET', '', undefined],
  ['PATCH', '', { name: 'x' }],
  ['POST', '/pause', undefined],
  ['POST', '/resume', undefined],
  ['POST', '/rotate-secret', undefined],
  ['POST', '/test', undefined],
  ['POST', '/redeliver', { status: 'failed' }],
  ['GET', '/matches', undefined],
  ['GET', '/deliveries', undefined],
  ['GET', '/events', undefined],
  ['GET', '/mutes', undefined],
  ['POST', '/mutes', { kind: 'author', value: 'ana' }],
  ['DELETE', '/mutes/mute_000000000000', undefined],
  ['GET', '/matches/export?format=csv', undefined],
  ['DELETE', '/backfill/bf_000000000000', undefined],
  ['POST', '/feed-token', undefined],
  ['DELETE', '/feed-token', undefined],
] as const;

describe('nothing is charged, created, sent or changed', () => {
  let before: unknown;
  beforeEach(async () => {
    before = await refusedState(db.pool);
  });
  afterEach(async () => {
    expect(await refusedState(db.pool)).toEqual(before);
    expect(receiver.received).toEqual([]);
  });

  describe.each(BY_ID)('%s {id}%s', (method, rest, body) => {
    test.each([
      'mon_000000000000',
      'mon_',
      'x',
      '%00',
      'a%2Fb',
      'mon_00000000000I',
      'MON_000000000000',
      'ü'.repeat(300),
    ])('of %s is 404', async (unknown) => {
      const reply = await api.call(owner.apiKey, method, `/v1/monitors/${unknown}${rest}`, body);
      expect(codeOf(reply)).toEqual([404, 'not_found']);
      expect((reply.body.error as { message: string }).message).toBe('No such monitor.');
    });

    test("returns the identical 404 for another account's monitor", async () => {
      const stranger = await api.account();
      before = await refusedState(db.pool);
      const replies = await Promise.all(
        [id, 'mon_000000000000'].map((which) =>
          api.call(stranger.apiKey, method, `/v1/monitors/${which}${rest}`, body),
        ),
      );
      expect(codeOf(replies[0]!)).toEqual([404, 'not_found']);
      expect(replies[0]!.body).toEqual(replies[1]!.body);
    });

    test('without a key answers 401, whatever else is wrong', async () => {
      for (const path of [id, 'x']) {
        const reply = await api.call(
          undefined,
          method,
          `/v1/monitors/${path}${rest}?limit=x`,
          method === 'GET' ? undefined : '{',
        );
        expect(codeOf(reply)).toEqual([401, 'unauthorized']);
      }
    });
  });

  test('checks the request before it looks for the monitor, and both before credits', async () => {
    const poor = await api.account({ credits: 0 });
    before = await refusedState(db.pool);
    const call = (method: string, path: string, body?: unknown) =>
      api.call(poor.apiKey, method, `/v1/monitors${path}`, body);
    expect(codeOf(await call('PATCH', '/mon_000000000000', { keywords: [] }))).toEqual([400, 'invalid_request']);
    expect(codeOf(await call('GET', '/mon_000000000000/matches?limit=0'))).toEqual([400, 'invalid_request']);
    expect(codeOf(await call('GET', '/mon_000000000000/deliveries?limit=0'))).toEqual([400, 'invalid_request']);
    expect(codeOf(await call('POST', '/mon_000000000000/resume'))).toEqual([404, 'not_found']);
    expect(codeOf(await call('POST', '', { name: 'x', keywords: [] }))).toEqual([400, 'invalid_request']);
    expect(codeOf(await call('POST', '', { name: 'x', keywords: ['rust'] }))).toEqual([402, 'insufficient_credits']);
  });

  test.each(['0', '201', '-1', '1.5', '1e2', '0x10', '+5', ' 5', 'abc', 'null', '', '00000', '9'.repeat(40), '٣'])(
    'a page of matches refuses the limit %j',
    async (limit) => {
      const reply = await api.call(
        owner.apiKey,
        'GET',
        `/v1/monitors/${id}/matches?limit=${encodeURIComponent(limit)}`,
      );
      expect(codeOf(reply)).toEqual([400, 'invalid_request']);
      expect((reply.body.error as { message: string }).message).toMatch(/^limit: /);
    },
  );

  test.each([
    ['oldest', 'before', 'a cursor of the other order'],
    ['newest', 'after', 'a cursor of the other order'],
  ])('order=%s with %s is %s', async (order, cursor) => {
    const reply = await api.call(
      owner.apiKey,
      'GET',
      `/v1/monitors/${id}/matches?order=${order}&${cursor}=${matchId(id, 3)}`,
    );
    expect(codeOf(reply)).toEqual([400, 'invalid_request']);
    expect((reply.body.error as { message: string }).message).toMatch(new RegExp(`^${cursor}: `));
  });

  test.each(['MAT', 'mat_', '000000000000', 't3_page1', 'mon_000000000000'])(
    'a page of matches refuses the cursor %j',
    async (cursor) => {
      for (const query of [`after=${cursor}`, `order=newest&before=${cursor}`]) {
        expect(codeOf(await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches?${query}`))).toEqual([
          400,
          'invalid_request',
        ]);
      }
    },
  );

  test.each([
    { webhook_url: null, webhook_kind: 'generic' },
    { webhook_url: '', webhook_kind: 'discord' },
    { webhook_url: ' ' },
    { webhook_url: [] },
    { webhook_url: {} },
    { webhook_url: false },
    { webhook_kind: '' },
    { webhook_kind: 'Slack' },
    { webhook_kind: [] },
    { webhook_url: 'https://hooks.slack.com/services/a/b/c', webhook_kind: 'discord' },
    { webhook_url: 'https://discord.com/api/webhooks/1/x', webhook_kind: 'slack' },
    { name: '' },
    { name: null },
    { keywords: null },
    { exclude: null },
    { subreddits: null },
    { posts: null },
    { comments: null },
    { nsfw: null },
    { keywords: [''] },
    { keywords: [' '] },
    { exclude: [''] },
    { subreddits: ['r/'] },
    { id: 'x' },
    { next_charge_at: '2030-01-01T00:00:00Z' },
    { posts: true, include_posts: false },
  ])('PATCH refuses %j', async (body) => {
    expect(codeOf(await api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, body))).toEqual([400, 'invalid_request']);
  });
});

describe('pages of matches', () => {
  const page = async (query: string) => {
    const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches${query}`);
    expect([reply.status, reply.headers.get('x-credits-remaining')]).toEqual([200, '990']);
    return reply.body as { items: { id: string }[]; after: string | null; before: string | null };
  };

  test.each([
    ['', 100, 100],
    ['?limit=1', 1, 1],
    ['?limit=200', 200, 200],
    ['?after=CURSOR5', 100, 105],
    ['?limit=200&after=CURSOR4', 200, 204],
    ['?limit=200&after=CURSOR5', 200, null],
    ['?limit=200&after=CURSOR204', 1, null],
    ['?limit=200&after=CURSOR205', 0, null],
  ])('oldest first, %s: `after` is set only while there are more', async (query, count, after) => {
    const got = await page(query.replace(/CURSOR(\d+)/, (_, seq) => matchId(id, Number(seq))));
    expect([got.items.length, got.after, got.before]).toEqual([
      count,
      after === null ? null : matchId(id, after),
      null,
    ]);
  });

  test.each([
    ['?order=newest', 100, 106],
    ['?order=newest&limit=200', 200, 6],
    ['?order=newest&limit=200&before=CURSOR201', 200, null],
    ['?order=newest&limit=5&before=CURSOR6', 5, null],
    ['?order=newest&limit=4&before=CURSOR6', 4, 2],
    ['?order=newest&before=CURSOR1', 0, null],
    ['?order=newest&limit=1&before=CURSOR205', 1, 204],
  ])('newest first, %s: `before` is the cursor of the next, older page', async (query, count, before) => {
    const got = await page(query.replace(/CURSOR(\d+)/, (_, seq) => matchId(id, Number(seq))));
    expect([got.items.length, got.after, got.before]).toEqual([
      count,
      null,
      before === null ? null : matchId(id, before),
    ]);
  });
});

describe('effects of PATCH on a webhook', () => {
  const SLACK = 'https://hooks.slack.com/services/a/b/c';
  const DISCORD = 'https://discord.com/api/webhooks/1/x';
  const OWN = 'https://receiver.example/x';
  test.each([
    [OWN, {}, {}, [OWN, 'generic']],
    [OWN, {}, { webhook_url: SLACK }, [SLACK, 'slack']],
    [OWN, {}, { webhook_url: DISCORD }, [DISCORD, 'discord']],
    [SLACK, {}, { webhook_url: OWN }, [OWN, 'generic']],
    [OWN, { webhook_kind: 'slack' }, { webhook_url: OWN }, [OWN, 'slack']],
    [OWN, { webhook_kind: 'slack' }, { webhook_kind: null }, [OWN, 'generic']],
    [OWN, {}, { webhook_kind: 'discord' }, [OWN, 'discord']],
    [OWN, { webhook_kind: 'slack' }, { webhook_url: null }, [null, null]],
    [OWN, { webhook_kind: 'slack' }, { webhook_url: '' }, [null, null]],
    [OWN, {}, { webhook_url: '', webhook_kind: null }, [null, null]],
    [OWN, {}, { webhook_url: null, webhook_kind: null }, [null, null]],
    [null, {}, { webhook_url: '' }, [null, null]],
    [null, {}, { webhook_kind: null }, [null, null]],
    [null, {}, { webhook_url: SLACK, webhook_kind: null }, [SLACK, 'slack']],
    [null, {}, { webhook_url: OWN, webhook_kind: 'slack' }, [OWN, 'slack']],
  ])('of %s %j, with %j', async (url, more, body, shown) => {
    const account = await api.account();
    const given = url === null ? {} : { webhook_url: url, ...more };
    const monitor = await api.monitor(account.apiKey, given);
    const reply = await api.call(account.apiKey, 'PATCH', `/v1/monitors/${monitor.id}`, body);
    const { webhook_url, webhook_kind } = reply.body.monitor as { webhook_url: unknown; webhook_kind: unknown };
    expect([reply.status, webhook_url, webhook_kind]).toEqual([200, ...shown]);
  });

  test('refuses a kind without a webhook', async () => {
    const account = await api.account();
    const monitor = await api.monitor(account.apiKey);
    const reply = await api.call(account.apiKey, 'PATCH', `/v1/monitors/${monitor.id}`, { webhook_kind: 'slack' });
    expect(codeOf(reply)).toEqual([400, 'invalid_request']);
  });
});

test('a create of an account that cannot pay is refused before the name of its webhook is looked up', async () => {
  let lookups = 0;
  const watched = await startTestApi(db.pool, { lookup: () => Promise.resolve([`93.184.216.${++lookups}`]) });
  const create = async (credits: number, webhook_url: string) => {
    const { apiKey } = await watched.account({ credits });
    const body = { name: 'x', keywords: ['rust'], webhook_url };
    return (await watched.call(apiKey, 'POST', '/v1/monitors', body)).status;
  };
  expect(await create(9, 'ftp://hooks.example.com')).toBe(400);
  expect([await create(9, 'https://hooks.example.com/a'), lookups]).toEqual([402, 0]);
  expect([await create(10, 'https://hooks.example.com/a'), lookups > 0]).toEqual([201, true]);
  await watched.stop();
});
