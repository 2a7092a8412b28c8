import { afterAll, afterEach, beforeAll, beforeEach, test } from 'vitest';
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

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  proxy = await TcpProxy.start(db.url);
  events = [];
  now = 1_000_000;
  listener = new ChangeListener({
    postgresUrl: proxy.url,
    logger: silentLogger(),
    clock: () => now,
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

test('replaces a connection that falls silent between connecting and LISTEN', async () => {
  proxy.silenceAt('LISTEN');
  listener.start();
  await expectEvents('connected');
  await notify('mon_a');
  await expectEvents('connected', 'mon_a');
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
