import type { Credential } from './callers.ts';
import { persistedSecret } from '../persisted-secret.ts';

/**
 * The credentials of the two ports of the embedded ClickHouse. The analysts' credential is not valid on the port that
 * writes.
 */
export function clickhouseCredentials(dataDir: string): { writer: Credential; reader: Credential } {
  return {
    writer: { user: 'forum', password: persistedSecret(dataDir, 'clickhouse') },
    reader: { user: 'analyst', password: persistedSecret(dataDir, 'clickhouse-read-only') },
  };
}

/** Returns http://user:password@127.0.0.1:PORT, which clients of ClickHouse accept. */
export function clickhouseUrl({ user, password }: Credential, port: number): string {
  return `http://${user}:${password}@127.0.0.1:${port}`;
}
