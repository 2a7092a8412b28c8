import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAdmin } from '../../../services/admin/run-admin.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { readRecordingMonitors } from '../../../shared/matches/recording.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let monitor: string;
let receiver: Server;
let answer = 204;
const received: string[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { allowPrivate: true });
  receiver = createServer((request, response) => {
    received.push(String(request.headers['x-service-test']));
    response.writeHead(answer).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  owner = await api.account({ credits: 100 });
  const webhook_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/secret-path`;
  monitor = (await api.monitor(owner.apiKey, { webhook_url })).id;
});

afterAll(async () => {
  receiver.close();
  await api.stop();
  await db.drop();
});

interface Ran {
  code: number;
  out: string[];
  err: string;
}

async function admin(args: string, isTerminal = false): Promise<Ran> {
  const ran: Ran = { code: 0, out: [], err: '' };
  const env = { DATABASE_URL: db.url, WEBHOOK_ALLOW_PRIVATE: '1', SECRET_KEY: 'a secret key for tests, 32 characters' };
  const terminal = { isTerminal, out: (line: string) => ran.out.push(line), err: (line: string) => (ran.err += line) };
  ran.code = await runAdmin(args.split(' '), env, terminal);
  return ran;
}

/** The lines of a command that succeeds. */
async function lines(args: string): Promise<Record<string, unknown>[]> {
  const { code, out, err } = await admin(args);
  expect([code, err]).toEqual([0, '']);
  return out.map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function setDeliveries(status: 'pending' | 'failed', count: number): Promise<void> {
  await db.pool.query('DELETE FROM matches WHERE monitor_id = $1', [monitor]);
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
       suppressed, first_delivery, delivery_status, attempt, next_attempt_at)
     SELECT $1, seq, 't3_' || seq, 'post', wall_now(), wall_now(), service_now(), '{rust}', false, 'pending', $2, 1,
       CASE WHEN $2 = 'pending' THEN service_now() + interval '1 hour' END
     FROM generate_series(1, $3::int) AS seq`,
    [monitor, status, count],
  );
}

test('monitor list and show print what the owner sees, and no webhook URL', async () => {
  const listed = await lines('monitor list');
  expect(listed).toMatchObject([{ monitor_id: monitor, account_id: owner.accountId, status: 'active' }]);
  expect(await lines('monitor list --failing')).toEqual([]);
  expect(await lines(`monitor list --account ${owner.accountId} --status paused`)).toEqual([]);
  const [shown] = await lines(`monitor show --monitor ${monitor}`);
  expect(shown).toMatchObject({
    monitor_id: monitor,
    keywords: ['rust'],
    stats: { matches_7d: 0 },
    delivery: { pending: 0 },
  });
  expect(JSON.stringify([listed, shown])).not.toContain('secret-path');
});

test('monitor pause and resume act as the owner would: a resume costs 10 credits, once', async () => {
  const balance = async () => (await api.call(owner.apiKey, 'GET', '/v1/account')).body.balance;
  const before = Number(await balance());
  for (let twice = 0; twice < 2; twice++) {
    expect(await lines(`monitor pause --monitor ${monitor}`)).toMatchObject([{ status: 'paused' }]);
  }
  expect(await lines(`monitor resume --monitor ${monitor}`)).toMatchObject([
    { status: 'active', credits: before - 10 },
  ]);
  expect(await lines(`monitor resume --monitor ${monitor}`)).toMatchObject([{ status: 'active' }]);
  expect(await balance()).toBe(before - 10);
  const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${monitor}`);
  expect(body.monitor).toMatchObject({ status: 'active' });

  const poor = await api.account({ credits: 10 });
  const { id } = await api.monitor(poor.apiKey);
  await lines(`monitor pause --monitor ${id}`);
  const refused = await admin(`monitor resume --monitor ${id}`);
  expect([refused.code, refused.out]).toEqual([1, []]);
  expect(refused.err).toContain(`${poor.accountId} has fewer than 10 credits`);
  expect(await lines(`monitor show --monitor ${id}`)).toMatchObject([{ status: 'paused' }]);
});

test('a cap that was reached on a day to come, because a clock was ahead, begins anew by monitor reset-day', async () => {
  const { rows } = await db.pool.query<{ today: string; ahead: string }>(
    `WITH now AS (SELECT (service_now() AT TIME ZONE 'UTC')::date AS today), days AS (
       INSERT INTO monitor_days (monitor_id, day, matches, suppressed)
       SELECT $1, today + days, 1000 + days, 5 FROM now, unnest('{-1,0,9,10}'::int[]) AS days
     ), counters AS (UPDATE monitor_counters SET last_day = today + 10 FROM now WHERE monitor_id = $1)
     SELECT today::text, (today + 10)::text AS ahead FROM now`,
    [monitor],
  );
  const { today, ahead } = rows[0]!;
  const recording = async () => (await readRecordingMonitors(db.pool, [monitor])).get(monitor);
  expect(await recording()).toMatchObject({ day: ahead, matchesOfDay: 1_010 });

  expect(await lines('monitor reset-day')).toEqual([{ monitor_id: monitor, from: ahead, to: today }]);
  expect(await recording()).toMatchObject({ day: today, matchesOfDay: 1_000 });
  const days = 'SELECT matches, suppressed FROM monitor_days WHERE monitor_id = $1 ORDER BY day';
  expect((await db.pool.query(days, [monitor])).rows).toEqual([
    { matches: 999 + 1_009 + 1_010, suppressed: 15 },
    { matches: 1_000, suppressed: 5 },
  ]);
  expect(await lines(`monitor reset-day --monitor ${monitor}`)).toEqual([]);
});

test('monitor test sends a signed sample, and a success ends webhook_failing', async () => {
  await db.pool.query('INSERT INTO monitor_health (monitor_id, failures, webhook_failing) VALUES ($1, 50, true)', [
    monitor,
  ]);
  answer = 500;
  const failed = { monitor_id: monitor, delivered: false, status: 500 };
  expect(await lines(`monitor test --monitor ${monitor}`)).toMatchObject([failed]);
  expect(await lines('monitor list --failing')).toHaveLength(1);
  answer = 204;
  expect(await lines(`monitor test --monitor ${monitor}`)).toEqual([
    { ...failed, delivered: true, status: 204, error: null },
  ]);
  expect(await lines('monitor list --failing')).toEqual([]);
  expect(received).toEqual(['1', '1']);
});

test('deliveries are listed with the outcome of the last attempt; retry queues failed ones and hastens the others', async () => {
  await setDeliveries('failed', 2);
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, error,
       delivery_status) VALUES ($1, 1, 1, service_now(), 5, 'generic', 'receiver.example', 503, 'http_503', 'failed')`,
    [monitor],
  );
  expect(await lines('deliveries pending')).toEqual([]);
  const failed = await lines(`deliveries failed --account ${owner.accountId}`);
  expect(failed).toMatchObject([
    { match_id: matchId(monitor, 1), thing_id: 't3_1', attempts: 1, last_status: 503, last_host: 'receiver.example' },
    { match_id: matchId(monitor, 2), last_status: null },
  ]);
  expect(await lines(`deliveries retry --monitor ${monitor} --since 2100-01-01T00:00:00Z`)).toMatchObject([
    { queued: 0 },
  ]);
  expect(await lines(`deliveries retry --monitor ${monitor}`)).toMatchObject([{ queued: 2, hastened: 0 }]);
  expect(await lines(`deliveries pending --monitor ${monitor}`)).toHaveLength(2);
  await setDeliveries('pending', 3);
  expect(await lines(`deliveries retry --monitor ${monitor}`)).toMatchObject([{ queued: 0, hastened: 3 }]);
  expect(await lines(`deliveries pending --limit 2`)).toHaveLength(2);
});

test('deliveries retry --failed queues the failed ones of all monitors, or of an account', async () => {
  const other = await api.account({ credits: 100 });
  const otherMonitor = (await api.monitor(other.apiKey, { webhook_url: 'http://127.0.0.1:9/' })).id;
  const fail = async () => {
    await setDeliveries('failed', 3);
    await db.pool.query('DELETE FROM matches WHERE monitor_id = $1', [otherMonitor]);
    await db.pool.query(
      `INSERT INTO matches SELECT (jsonb_populate_record(m, jsonb_build_object('monitor_id', $2::text))).*
         FROM matches m WHERE monitor_id = $1 AND seq <= 2`,
      [monitor, otherMonitor],
    );
  };
  const ids = [monitor, otherMonitor].toSorted();
  const expected = ids.map((id) => ({ monitor_id: id, queued: id === monitor ? 3 : 2 }));
  await fail();
  expect(await lines('deliveries retry --failed --since 2100-01-01T00:00:00Z')).toEqual([{ monitors: 0, queued: 0 }]);
  expect(await lines('deliveries retry --failed --since 2020-01-01T00:00:00Z')).toEqual([
    ...expected,
    { monitors: 2, queued: 5 },
  ]);
  expect(await lines('deliveries retry --failed --since 2020-01-01T00:00:00Z')).toEqual([{ monitors: 0, queued: 0 }]);
  await fail();
  expect(await lines(`deliveries retry --failed --since 2020-01-01T00:00:00Z --account ${other.accountId}`)).toEqual([
    { monitor_id: otherMonitor, queued: 2 },
    { monitors: 1, queued: 2 },
  ]);
  expect(await lines(`deliveries retry --failed --monitor ${monitor}`)).toEqual([
    { monitor_id: monitor, queued: 3 },
    { monitors: 1, queued: 3 },
  ]);
  // The one that waits is left alone.
  expect(await lines(`deliveries retry --failed --monitor ${monitor}`)).toEqual([{ monitors: 0, queued: 0 }]);
  await db.pool.query('DELETE FROM matches WHERE monitor_id = $1', [otherMonitor]);
});

test.each([
  ['monitor show --monitor mon_000000000000', 'no monitor mon_000000000000'],
  ['deliveries retry --failed', '--since is required with --failed'],
  ['deliveries retry --email a@example.com', '--email and --account need --failed.'],
])('refuses %s', async (args, message) => {
  const { code, out, err } = await admin(args);
  expect([code, out]).toEqual([1, []]);
  expect(err).toContain(message);
});

test('the help of every command has its options, --json and examples that it accepts', async () => {
  const overview = (await admin('--help')).out.join('\n');
  const commands = [...overview.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?) {2,}\S/gm)].map(([, name]) => name!);
  expect(commands.length).toBeGreaterThanOrEqual(35);
  for (const command of commands) {
    const help = (await admin(`${command} --help`)).out.join('\n');
    expect(help).toContain('--json');
    const examples = [...help.matchAll(/^ {2}npm run --silent admin -- (.+?)( > .*)?$/gm)].map(
      ([, example]) => example!,
    );
    expect(examples.length, command).toBeGreaterThan(0);
    // With --help nothing runs, but the options are parsed.
    for (const example of examples) {
      expect(example.startsWith(command)).toBe(true);
      expect((await admin(`${example} --help`)).code).toBe(0);
    }
  }
});
