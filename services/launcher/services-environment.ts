import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { isLoopback } from '../../shared/http/public-address.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { brokersOf } from '../../shared/runtime/endpoints-file.ts';
import type { Endpoints } from '../../shared/runtime/endpoints-file.ts';
import { urlOf } from '../../shared/runtime/operations-server.ts';
import { persistedSecret } from './engines/engine.ts';
import type { EngineName } from './engines/engine.ts';

/** What endpoints.json says of an installation's engines and its simulator. */
type InstallationParts = Omit<Endpoints, 'pid' | 'api' | 'metrics'>;

/** The URL of each engine: of its URL variable if set, otherwise of the embedded engine. */
export function engineUrls(config: Config, embedded: Partial<Record<EngineName, string>>): Record<EngineName, string> {
  return {
    kafka: config.kafka.brokers ? `kafka://${config.kafka.brokers.join(',')}` : (embedded.kafka ?? ''),
    postgres: config.postgresUrl ?? embedded.postgres ?? '',
    clickhouse: config.clickhouseUrl ?? embedded.clickhouse ?? '',
  };
}

/** The variables that make the simulator the upstream. It accepts any client. */
function simulatorEnvironment(url: string): Record<string, string> {
  return {
    UPSTREAM_URL: url,
    UPSTREAM_TOKEN_URL: `${url}/api/v1/access_token`,
    UPSTREAM_CLIENTS: 'simulator:simulator',
    FORUM_SIMULATED: 'forum',
  };
}

/** In DATA_DIR where this process has no folder for it: another user may have installed the product. */
function compileCache({ dataDir }: Pick<Config, 'dataDir'>): Record<string, string> {
  return getCompileCacheDir() === undefined ? { NODE_COMPILE_CACHE: join(dataDir, 'cache', 'compiled') } : {};
}

/** Names an installation's engines, except those that the environment names itself, and its simulator. */
export function servicesEnvironment(config: Config, parts: InstallationParts): Record<string, string> {
  const own = {
    kafka: config.kafka.brokers !== undefined,
    postgres: config.postgresUrl !== undefined,
    clickhouse: config.clickhouseUrl !== undefined,
  };
  const { simulator } = parts;
  const isSimulated = simulator !== undefined && config.upstream.clients === undefined;
  const hasTrialPayments = isSimulated && parts.trialPayments === true && config.payments === undefined;
  return {
    ...compileCache(config),
    ...(own.kafka ? {} : { KAFKA_BROKERS: brokersOf(parts.kafka) }),
    ...(own.postgres ? {} : { DATABASE_URL: parts.postgres }),
    ...(own.clickhouse ? {} : { CLICKHOUSE_URL: parts.clickhouse }),
    FORUM_EMBEDDED: parts.embedded.filter((name) => !own[name as EngineName]).join(','),
    FORUM_SIMULATED: '',
    ...(isSimulated ? simulatorEnvironment(simulator) : {}),
    ...(hasTrialPayments ? trialPaymentsEnvironment(config.dataDir, simulator) : {}),
  };
}

/**
 * Packs can be bought with trial money only where nobody else can reach the installation, with the simulated forum, on
 * its own database, and without a key of the provider; not with PORT=0, since the simulator must know the port before.
 */
export function offersTrialPayments({ http, payments, upstream, postgresUrl }: Config): boolean {
  const isLocal = payments === undefined && upstream.clients === undefined && postgresUrl === undefined;
  return isLocal && isLoopback(http.host) && http.port !== 0;
}

/** What the payment simulator and the services share; kept, so that purchases can be settled after a restart. */
function trialSecrets(dataDir: string) {
  return {
    key: `sk_test_${persistedSecret(dataDir, 'trial-payments-key')}`,
    secret: `whsec_${persistedSecret(dataDir, 'trial-payments-webhook')}`,
  };
}

export function paymentSimulatorEnvironment(config: Config): Record<string, string> {
  const { key, secret } = trialSecrets(config.dataDir);
  return {
    SIMULATOR_PAYMENTS_KEY: key,
    SIMULATOR_PAYMENTS_SECRET: secret,
    SIMULATOR_PAYMENTS_WEBHOOK: `${urlOf(config.http.host, config.http.port)}/stripe/webhook`,
  };
}

/** The variables that make the payment simulator the payment provider of the services. */
export function trialPaymentsEnvironment(dataDir: string, simulatorUrl: string): Record<string, string> {
  const { key, secret } = trialSecrets(dataDir);
  return {
    STRIPE_SECRET_KEY: key,
    STRIPE_WEBHOOK_SECRET: secret,
    STRIPE_API_URL: simulatorUrl,
    // It knows no prices and no taxes.
    STRIPE_PRICE_9: '',
    STRIPE_PRICE_29: '',
    STRIPE_PRICE_79: '',
    STRIPE_AUTOMATIC_TAX: '',
    FORUM_SIMULATED: 'forum,payments',
  };
}
