import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import type { TestReceiver } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let bench: DeliveryBench;
let api: TestApi;
let owner: TestAccount;
let receiver: TestReceiver;
let answer = 204;
let id: string;

beforeAll(async () => {
  bench = await DeliveryBench.create();
  api = await startTestApi(bench.db.pool, { allowPrivate: true });
});
afterAll(async () => {
  await api.stop();
  await bench.db.drop();
});
beforeEach(async () => {
  answer = 204;
  owner = await api.account();
  receiver = await bench.startReceiver((_, response) => response.writeHead(answer).end('so be it'));
  id = (await api.monitor(owner.apiKey, { webhook_url: receiver.url })).id;
});
afterEach(() => bench.reset());

const redeliver = (body: unknown, monitor = id): Promise<Reply> =>
  api.call(owner.apiKey, 'POST', `/v1/monitors/${monitor}/redeliver`, body);
const logOf = (query = ''): Promise<Reply> => api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/deliveries${query}`);
const statuses = async () => (await bench.states(id)).map((state) => state.delivery_status);
const settle = (status: string, seqs: number[]) =>
  bench.db.pool.query('UPDATE matches SET delivery_status = $2 WHERE monitor_id = $1 AND seq = ANY ($3)', [
    id,
    status,
    seqs,
  ]);
const failures = async () => {
  const { rows } = await bench.db.pool.query<{ failures: number }>(
    'SELECT failures FROM monitor_health WHERE monitor_id = $1',
    [id],
  );
  return rows[0]?.failures ?? 0;
};
const startDeliverer = () => bench.startDeliverer({ secretBox: api.secretBox });

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

describe('resending', () => {
  test('delivers failed matches under the same ids, and the log has every attempt', async () => {
    answer = 404;
    await bench.addMatches(id, 5);
    await startDeliverer();
    expect(await bench.settled(id)).toEqual(Array.from({ length: 5 }, () => 'failed'));
    expect(await failures()).toBe(5);
    answer = 200;
    expect((await redeliver({ status: 'failed' })).body).toEqual({ queued: 5, more: false });
    expect(await bench.settled(id)).toEqual(Array.from({ length: 5 }, () => 'delivered'));
    const ids = receiver.received.map(({ headers }) => String(headers['x-service-delivery']));
    expect(ids.toSorted()).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5].map((seq) => matchId(id, seq)));
    expect(await failures()).toBe(0);
    const { body } = await logOf();
    expect(body.after).toBeNull();
    expect(body.items).toMatchObject(
      [5, 4, 3, 2, 1].flatMap((seq) => [
        { match_id: matchId(id, seq), attempt: 2, status: 200, error: null, delivery_status: 'delivered' },
        { match_id: matchId(id, seq), attempt: 1, status: 404, error: 'http_status', delivery_status: 'failed' },
      ]),
    );
    const [first] = body.items as Record<string, unknown>[];
    expect(first).toMatchObject({
      host: new URL(receiver.url).host,
      response_excerpt: 'so be it',
      next_attempt_at: null,
    });
  });

  test('is paced at ten per second in match order; a second request queues nothing twice', async () => {
    await bench.addMatches(id, 40);
    await settle(
      'delivered',
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
    await bench.db.freeze();
    const replies = await Promise.all([redeliver({ status: 'delivered' }), redeliver({ status: 'delivered' })]);
    expect(replies.map(({ body }) => body.queued).sort()).toEqual([0, 40]);
    const due = (await bench.states(id)).map(({ due_in }) => Math.round(due_in! * 10));
    await bench.db.pool.query('UPDATE service_clock SET frozen_at = NULL');
    expect(due).toEqual(Array.from({ length: 40 }, (_, at) => at));
  });

  test('selects by ids, status or time, and never matches that are pending, suppressed or without a webhook', async () => {
    await bench.addMatches(id, 8);
    await settle('failed', [1, 2, 8]);
    await settle('delivered', [3]);
    await settle('skipped', [4, 5]);
    await settle('none', [6]);
    await bench.db.pool.query(
      `UPDATE matches SET suppressed = (seq = 5), created_at = service_now() - (10 - seq) * interval '1 hour'
       WHERE monitor_id = $1`,
      [id],
    );
    const before = await statuses();
    const queued = async (body: object) => {
      const reply = await redeliver(body);
      const after = await statuses();
      const changed = after.flatMap((status, at) => (status === before[at] ? [] : [at + 1]));
      expect(changed.filter((seq) => after[seq - 1] !== 'pending')).toEqual([]);
      for (const seq of changed) await settle(before[seq - 1]!, [seq]);
      expect(reply.body).toMatchObject({ queued: changed.length, more: false });
      return changed;
    };
    expect(await queued({ match_ids: [1, 3, 5, 6, 7, 999].map((seq) => matchId(id, seq)) })).toEqual([1, 3]);
    expect(await queued({ status: 'failed' })).toEqual([1, 2, 8]);
    expect(await queued({ status: 'skipped' })).toEqual([4]);
    expect(await queued({ since: hoursAgo(8.5) })).toEqual([2, 3, 4, 8]);
    expect(await queued({ since: hoursAgo(8.5), status: 'failed' })).toEqual([2, 8]);
    expect(await queued({ since: hoursAgo(-1) })).toEqual([]);
  });

  test('sends now what waits, except what is leased, with its attempts; an answer of 0 says why', async () => {
    expect((await redeliver({ status: 'pending' })).body).toEqual({ queued: 0, more: false, reason: 'nothing_fits' });
    await bench.addMatches(id, 4);
    await bench.db.freeze();
    await bench.db.pool.query(
      `UPDATE matches SET attempt = 3, ladder_step = 2, next_attempt_at = service_now() + interval '1 hour',
         lease_until = CASE WHEN seq = 4 THEN service_now() + interval '30 s' END
       WHERE monitor_id = $1 AND seq > 1`,
      [id],
    );
    expect((await redeliver({ status: 'failed' })).body).toEqual({ queued: 0, more: false, reason: 'waiting' });
    expect((await redeliver({ status: 'pending' })).body).toEqual({ queued: 2, more: false });
    expect((await redeliver({ status: 'pending' })).body).toEqual({ queued: 0, more: false, reason: 'due' });
    const { rows } = await bench.db.pool.query(
      `SELECT attempt, ladder_step, extract(epoch FROM next_attempt_at - service_now())::int AS due_in
       FROM matches WHERE monitor_id = $1 AND seq > 1 ORDER BY seq`,
      [id],
    );
    await bench.db.pool.query('UPDATE service_clock SET frozen_at = NULL');
    const kept = { attempt: 3, ladder_step: 2 };
    expect(rows).toEqual([0, 0, 3_600].map((due_in) => ({ ...kept, due_in })));
  });

  test('an account can resend 1,000 matches per UTC day and is then asked to wait until the day ends', async () => {
    const noon = Date.UTC(2026, 2, 1, 12);
    await bench.db.setShift(`${(noon - Date.now()) / 1_000} seconds`);
    owner = await api.account({ pack: 0 });
    id = (await api.monitor(owner.apiKey, { webhook_url: receiver.url })).id;
    await bench.addMatches(id, 600);
    const settleAll = () =>
      bench.db.pool.query(`UPDATE matches SET delivery_status = 'failed' WHERE monitor_id = $1`, [id]);
    const queued = async () => (await settleAll(), await redeliver({ status: 'failed' }));
    expect((await queued()).body).toEqual({ queued: 600, more: false });
    // The remaining part of the day.
    expect((await queued()).body).toEqual({ queued: 400, more: true });
    const refused = await queued();
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ error: { code: 'rate_limited', retryable: true } });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(11 * 3_600);
    expect(wait).toBeLessThanOrEqual(12 * 3_600);
    expect(await statuses()).not.toContain('pending');
    await bench.db.setShift(`${(noon - Date.now()) / 1_000 + 86_400} seconds`);
    expect((await queued()).body).toEqual({ queued: 600, more: false });
  });

  test.each([
    [undefined, 'match_ids: give match_ids, or status, or since'],
    [{ match_ids: ['mat_000000000000_000000000001'] }, 'match_ids[0]: must be the id of a match of this monitor'],
    [{ status: 'failed', match_ids: ['x'] }, 'match_ids: cannot be combined'],
  ])('refuses %j', async (body, message) => {
    const reply = await redeliver(body);
    expect([reply.status, reply.body.error]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringContaining(message) as string }),
    ]);
  });
});

describe('the log', () => {
  /** Attempt 1 fails, every other attempt 2 delivers; a tenth of the matches was resent a minute ago. */
  const addAttempts = (seqs: number) =>
    bench.db.pool.query(
      `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT $1, seq, attempt,
       service_now() - CASE WHEN attempt = 3 THEN interval '1 min' ELSE ($2::int - seq + 1) * interval '1 h' END,
       1, 'generic', 'h', 204,
       CASE WHEN attempt = 1 THEN 'pending' WHEN attempt = 2 AND seq % 2 = 0 THEN 'failed' ELSE 'delivered' END
     FROM generate_series(1, $2::int) AS seq, generate_series(1, 3) AS attempt
     WHERE attempt < 3 OR seq % 10 = 0`,
      [id, seqs],
    );
  const allPages = async (query: string) => {
    const pages: { items: { match_id: string; attempt: number }[]; after: string | null }[] = [];
    for (let after: string | null = ''; after !== null; after = pages.at(-1)!.after) {
      pages.push((await logOf(`?${query}${after === '' ? '' : `&after=${after}`}`)).body as never);
    }
    return pages;
  };
  const named = (entries: readonly (readonly [number, number])[]) =>
    entries.map(([seq, attempt]) => `${matchId(id, seq)}.${attempt}`);
  const found = (pages: Awaited<ReturnType<typeof allPages>>) =>
    pages.flatMap(({ items }) => items.map((entry) => `${entry.match_id}.${entry.attempt}`));

  test('pages have each attempt that passes once, newest match first, resent ones of old matches too', async () => {
    await addAttempts(20);
    const all = Array.from({ length: 20 }, (_, at) => 20 - at).flatMap((seq) =>
      [3, 2, 1].filter((attempt) => attempt < 3 || seq % 10 === 0).map((attempt) => [seq, attempt] as const),
    );
    const isResend = ([, attempt]: readonly [number, number]) => attempt === 3;
    const isFailure = ([seq, attempt]: readonly [number, number]) => attempt === 2 && seq % 2 === 0;
    const isRecent = ([seq]: readonly [number, number]) => seq > 15;
    const cases: [string, (entry: readonly [number, number]) => boolean][] = [
      [`match=${matchId(id, 10)}`, ([seq]) => seq === 10],
      ['status=failed', isFailure],
      ['status=pending', ([, attempt]) => attempt === 1],
      ['status=delivered', (entry) => entry[1] > 1 && !isFailure(entry)],
      [`since=${hoursAgo(5.5)}`, (entry) => isRecent(entry) || isResend(entry)],
      [
        `since=${hoursAgo(5.5)}&status=delivered`,
        (entry) => isResend(entry) || (isRecent(entry) && entry[1] === 2 && !isFailure(entry)),
      ],
      [`since=${hoursAgo(5.5)}&status=failed`, (entry) => isRecent(entry) && isFailure(entry)],
      [`since=${hoursAgo(-1)}`, () => false],
      [`since=${hoursAgo(100)}`, () => true],
      [`since=${hoursAgo(100)}&match=${matchId(id, 10)}`, ([seq]) => seq === 10],
      [`status=delivered&match=${matchId(id, 10)}`, ([seq, attempt]) => seq === 10 && attempt === 3],
    ];
    for (const [query, passes] of cases) {
      const expected = named(all.filter(passes));
      for (const limit of [3, 100]) {
        const pages = await allPages(`${query}&limit=${limit}`);
        expect([query, found(pages)]).toEqual([query, expected]);
        expect(pages).toHaveLength(Math.max(1, Math.ceil(expected.length / limit)));
      }
    }
  });

  test.each([
    ['after=x', 'after'],
    ['after=mat_000000000000_000000000001.1', 'after'],
    ['match=mat_000000000000_000000000001', 'match'],
  ])('refuses ?%s', async (query, field) => {
    const reply = await logOf(`?${query}`);
    expect([reply.status, reply.body.error]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringMatching(`^${field}: `) as string }),
    ]);
  });
});
