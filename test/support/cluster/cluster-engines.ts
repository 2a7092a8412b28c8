import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { EngineContext } from '../../../services/launcher/engines/engine.ts';
import { makeDataDir } from '../../../services/launcher/engines/data-dir-lock.ts';
import { copyAsStandby, promoteStandby } from './postgres-standby.ts';
import { startKafkaCluster } from './kafka-cluster.ts';
import type { KafkaCluster } from './kafka-cluster.ts';

export interface ClusterOptions {
  dataDir: string;
  env: NodeJS.ProcessEnv;
  brokers: number;
  /** Whether commits wait for the standby, so that a fail-over loses none. */
  synchronous: boolean;
  progress: (line: string) => void;
  signal?: AbortSignal | undefined;
}

/** Real servers on one host, as several hosts would have them. */
export interface ClusterEngines {
  /** What the services connect to: each names all servers of its kind. */
  env: { KAFKA_BROKERS: string; DATABASE_URL: string; CLICKHOUSE_URL: string; KAFKA_REPLICATION: string };
  kafka: KafkaCluster;
  /** Kills the primary by SIGKILL. Whenever it ends, its standby is promoted, and it is not started again. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const STANDBY = 'standby';

/** Starts brokers, a PostgreSQL primary with a streaming standby, and ClickHouse. @throws StartFault */
export async function startClusterEngines(options: ClusterOptions): Promise<ClusterEngines> {
  const dataDir = resolve(options.dataDir);
  makeDataDir(dataDir);
  const { env, progress, signal } = options;
  const context: EngineContext = { dataDir, env, progress, signal };
  const kafka = await startKafkaCluster(context, options.brokers, differentPorts());
  const shared = { env, progress, ...(signal && { signal }) };
  const primaryDir = join(dataDir, 'primary');
  const standbyDir = join(dataDir, STANDBY);
  const primary = await startEngines({ ...shared, dataDir: primaryDir, engines: ['postgres', 'clickhouse'] });
  makeDataDir(standbyDir);
  await copyAsStandby({ primaryUrl: primary.urls.postgres, from: primaryDir, to: standbyDir, name: STANDBY, env });
  const standby = await startEngines({ ...shared, dataDir: standbyDir, engines: ['postgres'] });
  if (options.synchronous) await waitForStandby(primary.urls.postgres);
  progress(`postgres streams to its standby${options.synchronous ? ', which each commit waits for' : ''}`);
  const server = primary.process('postgres');
  let isStopping = false;
  const promoted = server.exited.then(async () => {
    if (isStopping) return;
    await promoteStandby(standby.urls.postgres);
    progress("postgres's primary ended; its standby was promoted");
  });
  promoted.catch((error: unknown) => progress(`the standby could not be promoted: ${errorMessage(error)}`));
  return {
    kafka,
    env: {
      KAFKA_BROKERS: kafka.url,
      DATABASE_URL: withHost(primary.urls.postgres, standby.urls.postgres),
      CLICKHOUSE_URL: primary.urls.clickhouse,
      KAFKA_REPLICATION: String(Math.min(3, options.brokers)),
    },
    async failOver() {
      process.kill(server.pid, 'SIGKILL');
      await promoted;
    },
    async stop() {
      isStopping = true;
      // The standby first, so that the primary does not wait for it.
      await standby.stop();
      await Promise.all([primary.stop(), kafka.stop()]);
    },
  };
}

/** Picks each port once: the brokers' ports are all chosen before any of them is taken. */
function differentPorts(): (from: number, to: number) => number {
  const picked = new Set<number>();
  return (from, to) => {
    let port = randomInt(from, to);
    while (picked.has(port)) port = randomInt(from, to);
    picked.add(port);
    return port;
  };
}

/** Makes each commit wait for the standby. Only a setting of this server, so a promoted standby waits for none. */
async function waitForStandby(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
    await client.query('SELECT pg_reload_conf()');
  } finally {
    await client.end();
  }
}

/** The URL with a second host. */
function withHost(url: string, other: string): string {
  const { host } = new URL(url);
  return url.replace(host, `${host},${new URL(other).host}`);
}
