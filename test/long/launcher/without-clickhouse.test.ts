import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { FORUM_REMOVALS } from '../../../schemas/messages/topics.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { allMatches } from '../../support/clients/all-matches.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Installation } from '../../support/children/installation.ts';
import '../../support/runner/provided-context.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { createTestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { uniquePrefix } from '../../support/fixtures/unique-prefix.ts';

const prefix = uniquePrefix();

let db: TestDatabase;
let archive: Awaited<ReturnType<typeof createTestClickhouse>>;
let proxy: TcpProxy;
let installation: Installation;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestClickhouse();
  proxy = await TcpProxy.start(archive.url);
  proxy.goAway();
  installation = await Installation.prepare({
    KAFKA_BROKERS: inject('kafkaBrokers'),
    DATABASE_URL: db.url,
    CLICKHOUSE_URL: proxy.url,
    KAFKA_TOPIC_PREFIX: prefix,
    SIMULATOR_RATE: '20',
  });
});

afterAll(async () => {
  await installation.remove();
  await proxy.stop();
  await archive.drop();
  await db.drop();
});

async function readiness(): Promise<{ status: number; parts: Record<string, boolean> }> {
  const response = await fetch(`${installation.url}/readyz`);
  const { parts } = (await response.json()) as { parts: Record<string, boolean> };
  return { status: response.status, parts };
}

async function publishRemoval(thing_id: string): Promise<void> {
  const logger = silentLogger();
  const kafka = createKafka({ brokers: inject('kafkaBrokers').split(','), clientId: 'test', logger });
  const publisher = await createPublisher({ kafka, prefix, metrics: createMetrics(), logger });
  const removal = { v: 1, thing_id, removed_at: new Date().toISOString() };
  await publisher.publish(FORUM_REMOVALS.name, [{ key: thing_id, value: JSON.stringify(removal) }]);
  await publisher.stop();
}

const withoutArchive = async () => {
  const { status, parts } = await readiness();
  const down = Object.keys(parts).filter((part) => parts[part] !== true);
  return status === 200 && down.includes('clickhouse') && down.every((part) => /clickhouse|archiver/.test(part));
};

test('an installation starts, matches and forgets without ClickHouse, search reports it, and the archive catches up', async () => {
  await installation.start();
  const parts = { postgres: true, kafka: true, clickhouse: false, archiver: false, recorder: true, matcher: true };
  await eventually('all but the archive is ready', async () => {
    expect(await readiness()).toMatchObject({ status: 200, parts });
    return true;
  });
  const { api_key: key } = installation.admin('account', 'create', '--email', 'a@example.com', '--pack', '79');
  const balance = async () =>
    (await installation.call(String(key), 'GET', '/v1/account')).headers.get('x-credits-remaining');
  expect((await installation.call(String(key), 'GET', '/v1/forum/subreddits')).status).toBe(200);
  const made = await installation.call(String(key), 'POST', '/v1/monitors', { name: 'all', keywords: ['the'] });
  const { id } = (made.body as { monitor: { id: string } }).monitor;
  const matches = () => allMatches(installation, String(key), id);
  const { thing_id: gone } = await eventually('a match', async () => (await matches()).find(({ body }) => body !== ''));
  await publishRemoval(gone);
  await eventually('its text is gone', async () =>
    (await matches()).some(({ thing_id, body }) => thing_id === gone && body === ''),
  );

  const before = await balance();
  const search = () => installation.call(String(key), 'GET', '/v1/forum/search/comments?q=the');
  const refused = await search();
  expect([refused.status, refused.headers.get('retry-after'), refused.body]).toMatchObject([
    503,
    '5',
    { error: { code: 'internal_error', retryable: true, retry_after: 5 } },
  ]);
  expect(await balance()).toBe(before);

  proxy.comeBack();
  await eventually('every part', async () => Object.values((await readiness()).parts).every(Boolean), 60_000);
  await eventually('a comment is found', async () => {
    const { status, body } = await search();
    return status === 200 && (body as { count: number }).count > 0;
  });

  proxy.goAway();
  await eventually('everything but the archive', withoutArchive);
  expect((await search()).status).toBe(503);
  // No process has ended because of it.
  expect(installation.output).not.toMatch(/restarts in|unexpected error/);
});
