import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess } from './process-identity.ts';

/** The addresses of a running installation, as URLs; a part that it does not have is absent. */
export interface Endpoints {
  pid: number;
  api: string;
  metrics: string;
  /** kafka://user:password@host:port, several brokers separated by commas after the scheme. */
  kafka: string;
  postgres: string;
  clickhouse: string;
  /** The embedded ClickHouse's address for analysts, which refuses writes. */
  clickhouseReadOnly?: string | undefined;
  simulator?: string | undefined;
  trialPayments?: boolean | undefined;
  embedded: string[];
}

const FILE = 'endpoints.json';

/** `startedAt` tells whether the pid is still that of the process that wrote the file. */
interface Written extends Endpoints {
  startedAt?: string | undefined;
}

export function writeEndpoints(dataDir: string, endpoints: Endpoints): void {
  const path = join(dataDir, FILE);
  const written: Written = { ...endpoints, startedAt: identifyProcess(endpoints.pid)?.startedAt };
  writeFileSync(`${path}.new`, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeEndpoints(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** Undefined for a file that is missing or damaged. */
export function readJsonFile(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as unknown) ?? undefined;
  } catch {
    return undefined;
  }
}

export function readEndpoints(dataDir: string): Endpoints | undefined {
  const written = readJsonFile(join(dataDir, FILE)) as Written | undefined;
  if (written === undefined) return undefined;
  const { startedAt, ...endpoints } = written;
  const owner = typeof endpoints.pid === 'number' ? identifyProcess(endpoints.pid) : undefined;
  // After a crash of the machine the pid may be another process's.
  return owner !== undefined && (startedAt ?? owner.startedAt) === owner.startedAt ? endpoints : undefined;
}

/** The broker list of a kafka:// URL in the form of KAFKA_BROKERS: [user:password@]host:port. */
export function brokersOf(kafkaUrl: string): string {
  return kafkaUrl.replace(/^kafka:\/\//, '');
}
