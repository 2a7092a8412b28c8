import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ChangeListener } from '../../../services/matcher/change-listener.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let proxy: TcpProxy;
let listener: ChangeListener;
let events: string[];
let now: number;
let clock: () => number;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  proxy = await TcpProxy.start(db.url);
  events = [];
  now = 1_000_000;
  clock = () => now;
  listener = new ChangeListener({
    postgresUrl: proxy.url,
    logger: silentLogger(),
    clock: () => clock(),
    onChange: (id) => void events.push(id),
    onLost: () => void events.push('lost'),
    onConnected: () => void events.push('connected'),
  });
});
afterEach(async () => {
  await listener.stop();
  await proxy.stop();
});

async function expectEvents(...expected: string[]): Promise<void> {
  await eventually(`the events ${expected.join(', ')}`, () => events.join() === expected.join());
}

const notify = (id: string) => db.pool.query(`SELECT pg_notify('monitor_changed', $1)`, [id]);

test('reports changes in commit order and no echo of another listener', async () => {
  const other = new ChangeListener({
    postgresUrl: db.url,
    logger: silentLogger(),
    clock: () => now,
    onChange: (id) => void events.push(`other ${id}`),
    onLost: () => undefined,
    onConnected: () => undefined,
  });
  other.start();
  await eventually('the other one hears', () => other.isConnected());
  listener.start();
  await expectEvents('connected');
  await notify('mon_a');
  await notify('mon_b');
  await eventually('both changes are reported', () => events.includes('mon_b') && events.includes('other mon_b'));
  expect(events.filter((id) => !id.startsWith('other'))).toEqual(['connected', 'mon_a', 'mon_b']);
  expect(events.filter((id) => id.startsWith('other'))).toEqual(['other mon_a', 'other mon_b']);
  await other.stop();
});

test('ignores the echo of another matcher, whose clock may be ahead', async () => {
  const other = new ChangeListener({
    postgresUrl: db.url,
    logger: silentLogger(),
    clock: () => now + 3_600_000,
    onChange: () => undefined,
    onLost: () => undefined,
    onConnected: () => undefined,
  });
  listener.start();
  await expectEvents('connected');
  other.start();
  await eventually('the other one hears', () => other.isConnected());
  await other.stop();
  // Sent after the other listener's echo.
  await notify('mon_a');
  await expectEvents('connected', 'mon_a');
  proxy.freeze();
  now += 5_001;
  await expectEvents('connected', 'mon_a', 'lost');
});

test('reports a silent connection as lost once, a new one as connected, and a later silence as lost again', async () => {
  listener.start();
  await expectEvents('connected');
  for (const times of [1, 2]) {
    proxy.freeze();
    expect(listener.isConnected(), 'not before 5 s').toBe(true);
    now += 5_001;
    await expectEvents(...Array.from({ length: times }, () => ['connected', 'lost']).flat());
    expect(listener.isConnected()).toBe(false);
    now += 60_000;
    proxy.thaw();
    await expectEvents('connected', ...Array.from({ length: times }, () => ['lost', 'connected']).flat());
  }
});

test('a connection that is lost and replaced within 5 s causes a comparison but no pause', async () => {
  listener.start();
  await expectEvents('connected');
  proxy.goAway();
  await eventually('the loss is noticed', () => !listener.isConnected());
  proxy.comeBack();
  await expectEvents('connected', 'connected');
});

test('replaces a connection that falls silent between connecting and LISTEN', async () => {
  proxy.silenceAt('LISTEN');
  listener.start();
  await expectEvents('connected');
  await notify('mon_a');
  await expectEvents('connected', 'mon_a');
});

test('connects to a server that takes more than a second for each answer', async () => {
  proxy.delayAnswers(1_100);
  listener.start();
  await expectEvents('connected');
});

test('does not take a server for lost that takes three seconds for each answer', { timeout: 120_000 }, async () => {
  // A clock that leaves out stalls of this process, in which both ends of the connection stand still.
  let passed = 0;
  let last = performance.now();
  const ticking = setInterval(() => {
    const at = performance.now();
    passed += Math.min(at - last, 100);
    last = at;
  }, 20);
  const other = await db.pool.connect();
  let echoes = 0;
  other.on('notification', () => (echoes += 1));
  await other.query('LISTEN monitor_changed');
  try {
    clock = () => passed;
    listener.start();
    await expectEvents('connected');
    proxy.delayAnswers(3_000);
    await eventually('six echoes', () => echoes >= 7);
    expect(events).toEqual(['connected']);
  } finally {
    clearInterval(ticking);
    other.release(true);
  }
});

test('after a long silence a new connection has 5 s for its first echo on a slow network', async () => {
  listener.start();
  await expectEvents('connected');
  proxy.goAway();
  now += 60_000;
  await expectEvents('connected', 'lost');
  proxy.comeBack();
  proxy.delayAnswers(500);
  await eventually('it is connected', async () => {
    const { rowCount } = await db.pool.query(
      `SELECT 1 FROM pg_stat_activity
        WHERE application_name = 'matcher-listener' AND datname = current_database() AND query ~ '^LISTEN'`,
    );
    return rowCount === 1;
  });
  proxy.delayAnswers(2_500);
  await expectEvents('connected', 'lost', 'connected');
});

test('stops at once, even when the connection is silent, and reports nothing afterwards', async () => {
  listener.start();
  await expectEvents('connected');
  proxy.freeze();
  const started = performance.now();
  await listener.stop();
  expect(performance.now() - started).toBeLessThan(4_500);
  proxy.thaw();
  await notify('mon_a');
  await eventually('the connection is closed', async () => {
    const { rowCount } = await db.pool.query(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'matcher-listener' AND datname = current_database()`,
    );
    return rowCount === 0;
  });
  expect(events).toEqual(['connected']);
});
