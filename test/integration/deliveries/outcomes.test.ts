import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimDueMatches, claimNewMatches } from '../../../shared/deliveries/pending-deliveries.ts';
import type { ClaimedDelivery } from '../../../shared/deliveries/pending-deliveries.ts';
import { recordOutcomes } from '../../../shared/deliveries/delivery-outcomes.ts';
import type { FinishedAttempt } from '../../../shared/deliveries/delivery-outcomes.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';

/** Outcome of an attempt of a claimed match; `lost`: it failed, and another process had claimed the match by then. */
type Ending = 'delivered' | 'failed' | 'again' | 'resent failed' | 'lost';

const STATUS_AFTER: Record<Ending, string> = {
  delivered: 'delivered',
  failed: 'failed',
  again: 'pending',
  'resent failed': 'failed',
  lost: 'pending',
};

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterAll(() => bench.db.drop());

function newLease(): { token: string; lengthMs: number } {
  return { token: randomUUID(), lengthMs: 20_000 };
}

async function claimAll(monitorIds: readonly string[], limit: number): Promise<ClaimedDelivery[]> {
  return claimDueMatches(
    bench.db.pool,
    monitorIds.map((monitorId) => ({ monitorId, limit })),
    newLease(),
  );
}

function finished({ monitorId, seq, leaseToken, webhookUrl }: ClaimedDelivery, ending: Ending): FinishedAttempt {
  const status = { delivered: 204, failed: 410, again: 500, 'resent failed': 410, lost: 410 }[ending];
  return {
    monitorId,
    seq,
    leaseToken: ending === 'lost' ? randomUUID() : leaseToken,
    webhookKind: 'generic',
    isResent: ending === 'resent failed',
    webhookUrl,
    host: 'receiver.example',
    durationMs: 5,
    httpStatus: status,
    error: ending === 'delivered' ? null : 'http_status',
    responseExcerpt: null,
    deliveryStatus: ending === 'delivered' ? 'delivered' : ending === 'again' ? 'pending' : 'failed',
    delayMs: ending === 'again' ? 3_600_000 : null,
  };
}

async function healthOf(monitorId: string): Promise<{ failures: number; webhook_failing: boolean }> {
  const { rows } = await bench.db.pool.query<{ failures: number; webhook_failing: boolean }>(
    'SELECT failures, webhook_failing FROM monitor_health WHERE monitor_id = $1',
    [monitorId],
  );
  return rows[0] ?? { failures: 0, webhook_failing: false };
}

async function attemptsOf(monitorId: string): Promise<string[]> {
  const { rows } = await bench.db.pool.query<{ text: string }>(
    `SELECT seq || ':' || attempt || ' ' || status AS text FROM delivery_attempts WHERE monitor_id = $1 ORDER BY seq, attempt`,
    [monitorId],
  );
  return rows.map(({ text }) => text);
}

const times = (count: number, ending: Ending): Ending[] => Array.from({ length: count }, () => ending);

test.each([
  [
    '49 in a row, twice',
    [...times(49, 'failed'), 'delivered', ...times(49, 'failed')],
    { failures: 49, webhook_failing: false },
  ],
  ['the 50th in a row', times(50, 'failed'), { failures: 50, webhook_failing: true }],
  ['50 in a row and a success', [...times(50, 'failed'), 'delivered'], { failures: 0, webhook_failing: true }],
  ['50 of which one is retried', [...times(49, 'failed'), 'again'], { failures: 49, webhook_failing: false }],
  ['50 of which one was resent', [...times(49, 'failed'), 'resent failed'], { failures: 49, webhook_failing: false }],
  ['50 of which one lost its lease', [...times(49, 'failed'), 'lost'], { failures: 49, webhook_failing: false }],
] as [string, Ending[], { failures: number; webhook_failing: boolean }][])(
  'outcomes that are stored in one statement count in their order: %s',
  async (_, endings, health) => {
    const { id } = await bench.addMonitor('https://receiver.example/');
    await bench.addMatches(id, endings.length);
    const claimed = await claimAll([id], endings.length);
    const recorded = await recordOutcomes(
      bench.db.pool,
      claimed.map((delivery, index) => finished(delivery, endings[index]!)),
    );
    expect(recorded.map((answer) => answer !== undefined)).toEqual(endings.map((ending) => ending !== 'lost'));
    expect(await healthOf(id)).toEqual(health);
    const states = await bench.states(id);
    expect(states.map(({ delivery_status }) => delivery_status)).toEqual(endings.map((ending) => STATUS_AFTER[ending]));
    expect(states.map(({ is_leased }) => is_leased)).toEqual(endings.map((ending) => ending === 'lost'));
    expect(await attemptsOf(id)).toHaveLength(endings.filter((ending) => ending !== 'lost').length);
  },
);

test.each([
  ['as it was', 'https://receiver.example/', ['pending', 'failed'], 1],
  ['changed', 'https://other.example/', ['pending', 'failed'], 0],
  ['removed', null, ['skipped', 'failed'], 0],
])(
  'an attempt that ends when the webhook is %s: a retry is for the present one, a failure for the one that was called',
  async (_, url, statuses, failures) => {
    const { id } = await bench.addMonitor('https://receiver.example/');
    await bench.addMatches(id, 2);
    const [first, second] = await claimAll([id], 2);
    await bench.db.pool.query(
      `UPDATE monitors SET webhook_url = $2::text, webhook_kind = CASE WHEN $2::text IS NOT NULL THEN 'generic' END WHERE id = $1`,
      [id, url],
    );
    const recorded = await recordOutcomes(bench.db.pool, [finished(first!, 'again'), finished(second!, 'failed')]);
    const states = await bench.states(id);
    expect(states.map(({ delivery_status }) => delivery_status)).toEqual(statuses);
    expect(states.map(({ due_in }) => due_in !== null)).toEqual([url !== null, false]);
    expect(recorded.map((answer) => answer?.nextAttemptAt instanceof Date)).toEqual([url !== null, false]);
    expect(await healthOf(id)).toEqual({ failures, webhook_failing: false });
    expect(await attemptsOf(id)).toEqual(['1:1 500', '2:1 410']);
  },
);

test('a claim for several monitors returns new matches by seq and due ones up to each limit, none leased, waiting or without a webhook', async () => {
  const ids = await Promise.all(
    ['https://a.example/', 'https://b.example/', 'https://c.example/', null].map(
      async (url) => (await bench.addMonitor(url)).id,
    ),
  );
  const [a, b, c, silent] = ids as [string, string, string, string];
  for (const id of ids) await bench.addMatches(id, 5);
  await bench.addMatches(b, 1, '30 s', 6);
  await bench.db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [c]);
  const names = (claimed: ClaimedDelivery[]) =>
    claimed.map(({ monitorId, seq }) => `${ids.indexOf(monitorId)}/${seq}`).sort();

  const some = await claimNewMatches(
    bench.db.pool,
    [
      { monitorId: a, seqs: [1, 3] },
      { monitorId: b, seqs: [2, 99] },
      { monitorId: c, seqs: [1] },
      { monitorId: silent, seqs: [1] },
    ],
    newLease(),
  );
  expect(names(some)).toEqual(['0/1', '0/3', '1/2']);
  expect(some.map(({ webhookUrl }) => webhookUrl).sort()).toEqual([
    'https://a.example/',
    'https://a.example/',
    'https://b.example/',
  ]);
  const due = await claimDueMatches(
    bench.db.pool,
    [
      { monitorId: a, limit: 2 },
      { monitorId: b, limit: 9 },
      { monitorId: c, limit: 9 },
      { monitorId: silent, limit: 9 },
    ],
    newLease(),
  );
  expect(names(due)).toEqual(['0/2', '0/4', '1/1', '1/3', '1/4', '1/5']);
});

test('concurrent claims and outcomes of several deliverers: each match is claimed and counted once, without deadlock', async () => {
  const script = fc.array(fc.constantFrom<Ending>('delivered', 'failed', 'again', 'lost'), {
    minLength: 1,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(script, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 4 }),
      async (scripts, limit) => {
        const ids: string[] = [];
        for (const endings of scripts) {
          const { id } = await bench.addMonitor('https://receiver.example/');
          await bench.addMatches(id, endings.length);
          ids.push(id);
        }
        const claims: string[] = [];
        const work = async (order: readonly string[]) => {
          for (;;) {
            const claimed = await claimAll(order, limit);
            if (claimed.length === 0) return;
            claims.push(...claimed.map(({ monitorId, seq }) => `${monitorId}/${seq}`));
            await recordOutcomes(
              bench.db.pool,
              claimed.map((delivery) =>
                finished(delivery, scripts[ids.indexOf(delivery.monitorId)]![delivery.seq - 1]!),
              ),
            );
          }
        };
        await Promise.all([work(ids), work(ids.toReversed()), work(ids)]);
        expect(new Set(claims).size).toBe(claims.length);
        expect(claims).toHaveLength(scripts.flat().length);
        for (const [index, id] of ids.entries()) {
          const endings = scripts[index]!;
          const statuses = { delivered: 204, failed: 410, again: 500 };
          const stored = endings.flatMap((ending, at) =>
            ending in statuses ? [`${at + 1}:1 ${statuses[ending as keyof typeof statuses]}`] : [],
          );
          expect((await attemptsOf(id)).sort()).toEqual(stored.sort());
        }
      },
    ),
    { numRuns: 15 },
  );
});
