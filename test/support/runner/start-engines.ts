import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { administrate, createMigratedDatabase, dropTestDatabase } from '../fixtures/database-administration.ts';
import { findSecrets } from './find-secrets.ts';
import './provided-context.ts';

interface EngineSet {
  kafkaBrokers: string;
  postgresUrl: string;
  clickhouseUrl: string;
  stop(): Promise<void>;
}

/**
 * One set of engines for all tests of a lane that need any: embedded ones, or the servers named by TEST_KAFKA_BROKERS,
 * TEST_POSTGRES_URL and TEST_CLICKHOUSE_URL. What tests and their installations log goes to one file, which must hold
 * no secret at the end and stays for whoever looks for the cause of a failure.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const logFile = join(import.meta.dirname, `../../../node_modules/.cache/tests-${project.name}.log`);
  mkdirSync(dirname(logFile), { recursive: true });
  writeFileSync(logFile, '');
  // Workers inherit it.
  process.env.TEST_LOG_FILE = logFile;
  const engines = await chooseEngines();
  project.provide('kafkaBrokers', engines.kafkaBrokers);
  project.provide('postgresUrl', engines.postgresUrl);
  project.provide('clickhouseUrl', engines.clickhouseUrl);
  const template = await createMigratedDatabase(engines.postgresUrl);
  project.provide('postgresTemplate', template);
  return async () => {
    await dropTestDatabase(engines.postgresUrl, template);
    await engines.stop();
    assertNoSecrets(logFile);
  };
}

function assertNoSecrets(logFile: string): void {
  // An installation also prints for people where the demo key is; what is logged is JSON.
  const lines = readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'));
  const secrets = findSecrets(lines.join('\n'));
  console.log(`${logFile} has ${lines.length} lines, ${secrets.length} of them with a secret.`);
  for (const { what, line } of secrets.slice(0, 20)) console.error(`A log holds ${what}: ${line.slice(0, 500)}`);
  if (secrets.length > 0) throw new Error(`Secrets were logged: ${logFile}`);
}

async function chooseEngines(): Promise<EngineSet> {
  const { TEST_KAFKA_BROKERS, TEST_POSTGRES_URL, TEST_CLICKHOUSE_URL } = process.env;
  if (TEST_KAFKA_BROKERS && TEST_POSTGRES_URL && TEST_CLICKHOUSE_URL) {
    return {
      kafkaBrokers: TEST_KAFKA_BROKERS,
      postgresUrl: TEST_POSTGRES_URL,
      clickhouseUrl: TEST_CLICKHOUSE_URL,
      stop: () => Promise.resolve(),
    };
  }
  return startEmbedded();
}

async function startEmbedded(): Promise<EngineSet> {
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-test-engines-'));
  const engines = await startEngines({ dataDir, env: process.env, progress: (line) => console.log(line) });
  // The data does not outlive the run: nothing needs to reach the disk, and nobody waits for it.
  await administrate(
    engines.urls.postgres,
    'ALTER SYSTEM SET fsync = off',
    'ALTER SYSTEM SET full_page_writes = off',
    'SELECT pg_reload_conf()',
  );
  return {
    kafkaBrokers: engines.urls.kafka.replace('kafka://', ''),
    postgresUrl: engines.urls.postgres,
    clickhouseUrl: engines.urls.clickhouse,
    async stop() {
      await engines.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
