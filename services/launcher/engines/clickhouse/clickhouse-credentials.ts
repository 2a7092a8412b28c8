import type { Credential } from './callers.ts';
import { persistedSecret } from '../engine.ts';

/** Of the two ports: the analysts' is not valid on the one that writes. */
export function clickhouseCredentials(dataDir: string): { writer: Credential; reader: Credential } {
  return {
    writer: { user: 'forum', password: persistedSecret(dataDir, 'clickhouse') },
    reader: { user: 'analyst', password: persistedSecret(dataDir, 'clickhouse-read-only') },
  };
}

export function clickhouseUrl({ user, password }: Credential, port: number): string {
  return `http://${user}:${password}@127.0.0.1:${port}`;
}
