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
let heard: string[];
let now: number;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  proxy = await TcpProxy.start(db.url);
  heard = [];
  now = 1_000_000;
  listener = new ChangeListener({
    postgresUrl: proxy.url,
    logger: silentLogger(),
    clock: () => now,
    onChange: (id) => void heard.push(id),
    onLost: () => void heard.push('deaf'),
    onConnected: () => void heard.push('hearing'),
  });
});
afterEach(async () => {
  await listener.stop();
  await proxy.stop();
});

async function expectHeard(...expected: string[]): Promise<void> {
  await eventually(`heard ${expected.join(', ')}`, () => heard.join() === expected.join(), 15_000);
}

const announce = (id: string) => db.pool.query(`SELECT pg_notify('monitor_changed', $1)`, [id]);

test('hears changes in their order, and its own echo is nobody else’s business', async () => {
  const other = new ChangeListener({
    postgresUrl: db.url,
    logger: silentLogger(),
    clock: () => now,
    onChange: (id) => void heard.push(`other ${id}`),
    onLost: () => undefined,
    onConnected: () => undefined,
  });
  other.start();
  await eventually('the other one hears', () => other.isConnected());
  listener.start();
  await expectHeard('hearing');
  await announce('mon_a');
  await announce('mon_b');
  await eventually('both are heard', () => heard.includes('mon_b') && heard.includes('other mon_b'));
  expect(heard.filter((id) => !id.startsWith('other'))).toEqual(['hearing', 'mon_a', 'mon_b']);
  expect(heard.filter((id) => id.startsWith('other'))).toEqual(['other mon_a', 'other mon_b']);
  await other.stop();
});

test('another matcher’s echo proves nothing: its clock may be ahead', async () => {
  const other = new ChangeListener({
    postgresUrl: db.url,
    logger: silentLogger(),
    clock: () => now + 3_600_000,
    onChange: () => undefined,
    onLost: () => undefined,
    onConnected: () => undefined,
  });
  listener.start();
  await expectHeard('hearing');
  other.start();
  await eventually('the other one hears', () => other.isConnected());
  await other.stop();
  // Behind the other one's echo.
  await announce('mon_a');
  await expectHeard('hearing', 'mon_a');
  proxy.freeze();
  now += 5_001;
  await expectHeard('hearing', 'mon_a', 'deaf');
});

test('a silent connection makes it deaf, once; a new one proves itself, and later silence makes it deaf again', async () => {
  listener.start();
  await expectHeard('hearing');
  for (const times of [1, 2]) {
    proxy.freeze();
    expect(listener.isConnected(), 'not before 5 s').toBe(true);
    now += 5_001;
    await expectHeard(...Array.from({ length: times }, () => ['hearing', 'deaf']).flat());
    expect(listener.isConnected()).toBe(false);
    now += 60_000;
    proxy.thaw();
    await expectHeard('hearing', ...Array.from({ length: times }, () => ['deaf', 'hearing']).flat());
  }
});

test('a connection that is lost and made anew within 5 s: no pause, but a comparison', async () => {
  listener.start();
  await expectHeard('hearing');
  proxy.goAway();
  await eventually('the loss is noticed', () => !listener.isConnected());
  proxy.comeBack();
  await expectHeard('hearing', 'hearing');
});

test('a connection that falls silent between connecting and listening does not keep the next one from being made', async () => {
  proxy.silenceAt('LISTEN');
  listener.start();
  await expectHeard('hearing');
  await announce('mon_a');
  await expectHeard('hearing', 'mon_a');
});

test('after a long silence a slow network is given time to prove itself', async () => {
  listener.start();
  await expectHeard('hearing');
  proxy.goAway();
  now += 60_000;
  await expectHeard('hearing', 'deaf');
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
  await expectHeard('hearing', 'deaf', 'hearing');
});

test('stopping ends at once, even when the connection is silent, and nothing is heard afterwards', async () => {
  listener.start();
  await expectHeard('hearing');
  proxy.freeze();
  const started = performance.now();
  await listener.stop();
  expect(performance.now() - started).toBeLessThan(1_000);
  proxy.thaw();
  await announce('mon_a');
  await eventually('the connection is gone', async () => {
    const { rowCount } = await db.pool.query(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'matcher-listener' AND datname = current_database()`,
    );
    return rowCount === 0;
  });
  expect(heard).toEqual(['hearing']);
});
