import { join } from 'node:path';
import { brokersOf } from '../../shared/runtime/endpoints-file.ts';
import type { EngineName } from './engines/engine.ts';
import type { Config } from '../../shared/runtime/config.ts';

/** Where each engine answers: its own URL variable, else the embedded one. */
export type EngineUrls = Record<EngineName, string>;

export function engineUrls(config: Config, embedded: Partial<EngineUrls>): EngineUrls {
  return {
    kafka: config.kafka.brokers ? `kafka://${config.kafka.brokers.join(',')}` : (embedded.kafka ?? ''),
    postgres: config.postgresUrl ?? embedded.postgres ?? '',
    clickhouse: config.clickhouseUrl ?? embedded.clickhouse ?? '',
  };
}

/** The simulator as the upstream; it takes any client. */
export function simulatorEnvironment(url: string): Record<string, string> {
  return {
    UPSTREAM_URL: url,
    UPSTREAM_TOKEN_URL: `${url}/api/v1/access_token`,
    UPSTREAM_CLIENTS: 'simulator:simulator',
  };
}

/** The environment of the services' child: the user's own, completed with the addresses of what runs here. */
export function servicesEnvironment(
  config: Config,
  env: NodeJS.ProcessEnv,
  at: { urls: EngineUrls; embedded: readonly EngineName[]; simulator: string | undefined; metricsPort: number },
): NodeJS.ProcessEnv {
  return {
    NODE_COMPILE_CACHE: join(config.dataDir, 'cache', 'compiled'),
    ...env,
    DATA_DIR: config.dataDir,
    KAFKA_BROKERS: brokersOf(at.urls.kafka),
    DATABASE_URL: at.urls.postgres,
    CLICKHOUSE_URL: at.urls.clickhouse,
    METRICS_PORT: String(at.metricsPort),
    FORUM_EMBEDDED: at.embedded.join(','),
    ...(at.simulator === undefined ? {} : simulatorEnvironment(at.simulator)),
  };
}
