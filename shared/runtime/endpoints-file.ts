import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess } from './process-identity.ts';

/** Where everything of a running installation answers, as URLs; absent where there is none. */
export interface Endpoints {
  /** The process that owns the installation. */
  pid: number;
  api: string;
  metrics: string;
  /** kafka://user:password@host:port, several brokers separated by commas after the scheme. */
  kafka: string;
  postgres: string;
  clickhouse: string;
  /** The embedded one's address for analysts, which refuses everything that writes. */
  clickhouseReadOnly?: string;
  simulator?: string;
  /** Which engines are embedded ones of this installation. */
  embedded: string[];
}

const FILE = 'endpoints.json';

/** Written in one step, readable by its owner only: the URLs hold passwords. */
export function writeEndpoints(dataDir: string, endpoints: Endpoints): void {
  const path = join(dataDir, FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(endpoints, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeEndpoints(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** The endpoints of the installation that runs on this data directory; undefined when none does. */
export function readEndpoints(dataDir: string): Endpoints | undefined {
  let endpoints: Endpoints;
  try {
    endpoints = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as Endpoints;
  } catch {
    return undefined;
  }
  return typeof endpoints.pid === 'number' && identifyProcess(endpoints.pid) !== undefined ? endpoints : undefined;
}

/** The list of a kafka:// URL, as KAFKA_BROKERS takes it: [user:password@]host:port. */
export function brokersOf(kafkaUrl: string): string {
  return kafkaUrl.replace(/^kafka:\/\//, '');
}
