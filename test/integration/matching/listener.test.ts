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

test('reports a silent connection as lost once, a new one as connected, and a later silence as lost again', async () => {
  listener.start();
  await expectEvents('connected');
  proxy.freeze();
  expect(listener.isConnected(), 'not before 5 s').toBe(true);
  now += 5_001;
  await expectEvents('connected', 'lost');
  expect(listener.isConnected()).toBe(false);
  now += 60_000;
  proxy.thaw();
  await expectEvents('connected', 'lost', 'connected');
  proxy.freeze();
  now += 5_001;
  await expectEvents('connected', 'lost', 'connected', 'lost');
});
