import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { TOPICS } from '../../../schemas/messages/topics.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import '../../support/runner/provided-context.ts';
import { runAdminProcess } from '../../support/children/admin-process.ts';
import {
  administrate,
  dropTestDatabase,
  newDatabaseName,
  withDatabase,
} from '../../support/fixtures/database-administration.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import type { TestClickhouse } from '../../support/fixtures/test-clickhouse.ts';

const database = newDatabaseName();
let kafka: KafkaFixture;
let archive: TestClickhouse;
let env: Record<string, string>;

beforeAll(async () => {
  await administrate(inject('postgresUrl'), `CREATE DATABASE ${database}`);
  [kafka, archive] = await Promise.all([createKafkaFixture(), createTestClickhouse()]);
  env = {
    DATABASE_URL: withDatabase(inject('postgresUrl'), database),
    CLICKHOUSE_URL: archive.url,
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: kafka.prefix,
    // Topics of the test's broker have few partitions.
    FORUM_EMBEDDED: 'kafka',
  };
});
afterAll(async () => {
  await Promise.all([kafka.drop(), archive.drop(), dropTestDatabase(inject('postgresUrl'), database)]);
});

const DONE = [
  { engine: 'postgres', status: 'up to date' },
  { engine: 'kafka', status: 'up to date', topics: TOPICS.length },
  { engine: 'clickhouse', status: 'up to date' },
];

const linesOf = (out: string) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

const SCHEMAS = join(import.meta.dirname, '../../../schemas');
/** The migrations, as they are recorded: those of Postgres without their ending. */
const filesOf = (engine: 'postgres' | 'clickhouse') =>
  readdirSync(join(SCHEMAS, engine))
    .filter((file) => /^\d/.test(file))
    .map((file) => (engine === 'postgres' ? file.replace(/\.\w+$/, '') : file))
    .sort();

/** The applied migrations of both databases, and the topics. */
async function state() {
  const pool = createPool({ url: env.DATABASE_URL!, name: 'test', logger: silentLogger(), max: 1 });
  const clickhouse = createClickhouse(archive.url, 'test');
  try {
    const { rows } = await pool.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY id');
    const applied = await clickhouse.query({
      query: 'SELECT name FROM schema_migrations ORDER BY name, applied_at',
      format: 'JSONEachRow',
    });
    const topics = await kafka.kafka.withAdmin((admin) => admin.listTopics());
    return {
      postgres: rows.map(({ name }) => name),
      clickhouse: (await applied.json<{ name: string }>()).map(({ name }) => name),
      topics: topics.filter((topic) => topic.startsWith(kafka.prefix)).sort(),
    };
  } finally {
    await Promise.all([pool.end(), clickhouse.close()]);
  }
}

test('two at once bring empty servers up to date, each file once; a third changes nothing', async () => {
  const both = await Promise.all([runAdminProcess(['migrate'], env), runAdminProcess(['migrate'], env)]);
  for (const { code, out, err } of both) {
    expect({ code, lines: linesOf(out) }, err).toEqual({ code: 0, lines: DONE });
    expect(err).toContain('Postgres: up to date');
  }
  const migrated = await state();
  expect(migrated.postgres).toEqual(filesOf('postgres'));
  expect(migrated.clickhouse).toEqual(filesOf('clickhouse'));
  expect(migrated.topics).toHaveLength(2 * TOPICS.length);

  expect(await runAdminProcess(['migrate', '--wait', '0'], env)).toMatchObject({ code: 0 });
  expect(await state()).toEqual(migrated);
});

test('a server that does not answer is named with exit code 1, after the wait that was asked for', async () => {
  const unused = `127.0.0.1:${await freePort()}`;
  const without = (changed: Record<string, string>) =>
    runAdminProcess(['migrate', '--wait', '0'], { ...env, ...changed });
  const postgres = await without({ DATABASE_URL: `postgres://forum@${unused}/forum` });
  expect(postgres).toMatchObject({ code: 1, out: '' });
  expect(postgres.err).toContain('Postgres is not responding');
  const clickhouse = await without({ CLICKHOUSE_URL: `http://${unused}` });
  expect(clickhouse).toMatchObject({ code: 1 });
  expect(linesOf(clickhouse.out)).toEqual(DONE.slice(0, 2));
  expect(clickhouse.err).toContain('ClickHouse is not responding');
});

test('topics with another number of partitions are named, and --wait is checked', async () => {
  await runAdminProcess(['migrate'], env);
  const differing = await runAdminProcess(['migrate'], { ...env, KAFKA_PARTITIONS: 'monitor.matches=7' });
  expect(differing).toMatchObject({ code: 1 });
  expect(differing.err).toMatch(/monitor\.matches has \d+, but this version needs 7/);
  const faulty = await runAdminProcess(['migrate', '--wait', 'long'], env);
  expect(faulty).toMatchObject({ code: 1, out: '', err: expect.stringContaining('--wait') as string });
});
