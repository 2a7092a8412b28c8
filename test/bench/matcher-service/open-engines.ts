import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface MatcherEngines {
  postgres: string;
  brokers: string;
  stop(): Promise<void>;
}

/** Embedded engines, or those of TEST_POSTGRES_URL and TEST_KAFKA_BROKERS. */
export async function openEngines(): Promise<MatcherEngines> {
  const { TEST_POSTGRES_URL, TEST_KAFKA_BROKERS } = process.env;
  if (TEST_POSTGRES_URL && TEST_KAFKA_BROKERS) {
    return { postgres: TEST_POSTGRES_URL, brokers: TEST_KAFKA_BROKERS, stop: () => Promise.resolve() };
  }
  const { startEngines } = await import('../../../services/launcher/engines/embedded-engines.ts');
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-matcher-'));
  const engines = await startEngines({ dataDir, env: process.env, engines: ['postgres', 'kafka'] });
  return {
    postgres: engines.urls.postgres,
    brokers: engines.urls.kafka.replace('kafka://', ''),
    async stop() {
      await engines.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
