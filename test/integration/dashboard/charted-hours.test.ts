import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readMonitorMatchesByHour } from '../../../shared/accounts/account-overview.ts';
import { readAttemptsByHour } from '../../../shared/deliveries/delivery-health.ts';
import { MonitorPagesBench } from '../../support/dashboard/monitor-pages-bench.ts';

const HOUR = 3_600_000;

let bench: MonitorPagesBench;
let id: string;
beforeAll(async () => {
  bench = await MonitorPagesBench.create();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await bench.reset();
  id = await bench.monitor({ webhook_url: bench.receiver.url });
});

/** Adds matches of an hour, each with an attempt. @param ago how many hours before the present one */
async function add(ago: number, count: number, { outcome = 'delivered', suppressed = false } = {}): Promise<void> {
  await bench.db.pool.query(
    `WITH start AS (
       SELECT coalesce(max(seq), 0) AS seq, date_trunc('hour', service_now(), 'UTC') - $2 * interval '1 hour' AS at
       FROM matches WHERE monitor_id = $1
     ), added AS (
       INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
         suppressed, first_delivery, delivery_status)
       SELECT $1, start.seq + n, 't1_' || start.seq + n, 'comment', at, at, at, '{rust}', $4, 'pending', 'delivered'
       FROM start, generate_series(1, $3::integer) AS n
       RETURNING seq, created_at
     )
     INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT $1, seq, 1, created_at, 5, 'generic', 'host.example', 200, $5 FROM added`,
    [id, ago, count, suppressed, outcome],
  );
}

test('matches are counted by hour, those of other monitors and older ones not', async () => {
  await add(5, 7);
  await add(2, 3);
  await add(2, 1, { suppressed: true });
  await add(0, 2);
  const hours = await readMonitorMatchesByHour(bench.db.pool, id, 4);
  expect(hours.map(({ matches, suppressed }) => [matches, suppressed])).toEqual([
    [0, 0],
    [3, 1],
    [0, 0],
    [2, 0],
  ]);
  const starts = hours.map(({ hour }) => hour.getTime());
  expect(starts.every((at, index) => at % HOUR === 0 && at === starts[0]! + index * HOUR)).toBe(true);
  const other = await bench.monitor();
  expect((await readMonitorMatchesByHour(bench.db.pool, other, 2)).map(({ matches }) => matches)).toEqual([0, 0]);
});

test('attempts are counted by hour and outcome', async () => {
  await add(3, 9);
  await add(2, 1, { outcome: 'failed' });
  await add(1, 4);
  await add(1, 2, { outcome: 'pending' });
  const hours = await readAttemptsByHour(bench.db.pool, id, 3);
  expect(hours.map(({ delivered, retried, failed }) => [delivered, retried, failed])).toEqual([
    [0, 0, 1],
    [4, 2, 0],
    [0, 0, 0],
  ]);
});

test('of very many the newest are counted, and an hour that is not counted as a whole has no number', async () => {
  await add(3, 5);
  await add(2, 6_000);
  await add(1, 4_000);
  await add(1, 3, { outcome: 'failed' });
  const matches = await readMonitorMatchesByHour(bench.db.pool, id, 4);
  expect(matches.map((hour) => hour.matches)).toEqual([null, null, 4_003, 0]);
  const attempts = await readAttemptsByHour(bench.db.pool, id, 4);
  expect(attempts.map(({ delivered, failed }) => [delivered, failed])).toEqual([
    [null, 0],
    [null, 0],
    [4_000, 3],
    [0, 0],
  ]);
});

test('the page of a young monitor has hours, and that of an older one days', async () => {
  await add(1, 4);
  await add(1, 1, { suppressed: true });
  const young = (await bench.person.get(`/monitors/${id}`)).html;
  expect(young).toContain('Matches of the last 72 hours');
  expect(young).toMatch(/:00 UTC: 4 matches, 1 not sent/);
  await bench.db.pool.query(`UPDATE monitors SET created_at = created_at - interval '4 days' WHERE id = $1`, [id]);
  expect((await bench.person.get(`/monitors/${id}`)).html).toContain('Matches of the last 30 days');
});
