import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { brokersOf } from '../../shared/runtime/endpoints-file.ts';
import type { EngineName } from './engines/engine.ts';
import { trialPaymentsEnvironment } from './trial-payments.ts';
import type { Config } from '../../shared/runtime/config.ts';

/** The URL of each engine: of its URL variable if set, otherwise of the embedded engine. */
export type EngineUrls = Record<EngineName, string>;

export function engineUrls(config: Config, embedded: Partial<EngineUrls>): EngineUrls {
  return {
    kafka: config.kafka.brokers ? `kafka://${config.kafka.brokers.join(',')}` : (embedded.kafka ?? ''),
    postgres: config.postgresUrl ?? embedded.postgres ?? '',
    clickhouse: config.clickhouseUrl ?? embedded.clickhouse ?? '',
  };
}

/** The variables that make the simulator the upstream. It accepts any client. */
export function simulatorEnvironment(url: string): Record<string, string> {
  return {
    UPSTREAM_URL: url,
    UPSTREAM_TOKEN_URL: `${url}/api/v1/access_token`,
    UPSTREAM_CLIENTS: 'simulator:simulator',
    FORUM_SIMULATED: 'forum',
  };
}

/**
 * Where Node keeps compiled code, which makes a start about a second faster: where this process has it, or else in
 * DATA_DIR, for instance if another user installed the product and its folders are not writable.
 */
export function compileCache({ dataDir }: Pick<Config, 'dataDir'>): Record<string, string> {
  return getCompileCacheDir() === undefined ? { NODE_COMPILE_CACHE: join(dataDir, 'cache', 'compiled') } : {};
}

/** The environment of the services' child: the user's, plus the addresses of the embedded engines and the simulator. */
export function servicesEnvironment(
  config: Config,
  env: NodeJS.ProcessEnv,
  addresses: {
    urls: EngineUrls;
    embedded: readonly EngineName[];
    simulator: string | undefined;
    hasTrialPayments: boolean;
    metricsPort: number;
  },
): NodeJS.ProcessEnv {
  const { simulator, hasTrialPayments } = addresses;
  return {
    ...env,
    ...compileCache(config),
    DATA_DIR: config.dataDir,
    KAFKA_BROKERS: brokersOf(addresses.urls.kafka),
    DATABASE_URL: addresses.urls.postgres,
    CLICKHOUSE_URL: addresses.urls.clickhouse,
    METRICS_PORT: String(addresses.metricsPort),
    FORUM_EMBEDDED: addresses.embedded.join(','),
    FORUM_SIMULATED: '',
    ...(simulator === undefined ? {} : simulatorEnvironment(simulator)),
    ...(simulator === undefined || !hasTrialPayments ? {} : trialPaymentsEnvironment(config.dataDir, simulator)),
  };
}
