import type { Credential } from './callers.ts';
import { keptSecret } from '../kept-secret.ts';

/**
 * Who may use the two ports of the embedded ClickHouse. Analysts get an address that does not open the port that
 * writes.
 */
export function clickhouseCredentials(dataDir: string): { writer: Credential; reader: Credential } {
  return {
    writer: { user: 'forum', password: keptSecret(dataDir, 'clickhouse') },
    reader: { user: 'analyst', password: keptSecret(dataDir, 'clickhouse-read-only') },
  };
}

/** http://user:password@127.0.0.1:PORT, as clients of ClickHouse take it. */
export function clickhouseUrl({ user, password }: Credential, port: number): string {
  return `http://${user}:${password}@127.0.0.1:${port}`;
}
