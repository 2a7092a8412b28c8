import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PostgresEngine {
  /** Of its administrator. */
  url: string;
  stop(): Promise<void>;
}

/** Uses TEST_POSTGRES_URL if it is set, otherwise an embedded server in a temporary folder that `stop` removes. */
export async function openPostgres(): Promise<PostgresEngine> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given) return { url: given, stop: () => Promise.resolve() };
  const { startEngines } = await import('../../../services/launcher/engines/embedded-engines.ts');
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-postgres-'));
  const engines = await startEngines({ dataDir, env: process.env, engines: ['postgres'] });
  return {
    url: engines.urls.postgres,
    async stop() {
      await engines.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
