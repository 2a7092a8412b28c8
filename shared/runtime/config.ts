import { resolve } from 'node:path';
import type { z } from 'zod';
import { NO_SECURITY } from '../kafka/broker-list.ts';
import type { KafkaSecurity } from '../kafka/broker-list.ts';
import { ENVIRONMENT, VARIABLES } from './environment.ts';
import { printableLines } from './printable.ts';
import { isQuotable } from './setting-schemas.ts';

/** The environment is faulty; the message lists every fault. */
export class ConfigError extends Error {
  override name = 'ConfigError';

  constructor(message: string, options?: ErrorOptions) {
    super(printableLines(message), options);
  }
}

/** The environment, parsed once. Nothing else reads the environment. */
export type Config = ReturnType<typeof toConfig>;

/**
 * Parses an environment. Empty values count as unset, except CRAWL_SOURCES, where empty means no crawling.
 *
 * @throws ConfigError that names every faulty variable, one per line
 */
export function loadConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value !== undefined && (value !== '' || name === 'CRAWL_SOURCES')),
  );
  const parsed = ENVIRONMENT.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => {
      const name = String(path[0]);
      return `  ${name}: ${message}${quotation(name, given[name])}`;
    });
    throw new ConfigError(`The environment has ${faults.length === 1 ? 'a fault' : 'faults'}:\n${faults.join('\n')}`);
  }
  return toConfig(parsed.data);
}

/** No number and no word of a list is longer. Anything longer is something else, and may be a secret. */
const MOST_QUOTED = 20;

/** The rejected value; nothing where it may be a secret. */
function quotation(name: string, value: string | undefined): string {
  const schema = VARIABLES.shape[name as keyof typeof VARIABLES.shape];
  if (value === undefined || value.length > MOST_QUOTED || !isQuotable(schema)) return '';
  return ` (it is ${JSON.stringify(value)})`;
}

function toConfig(e: z.infer<typeof ENVIRONMENT>) {
  const local = `http://localhost:${e.PORT}`;
  const withoutSlash = (value: string) => value.replace(/(?<!\/)\/+$/, '');
  return {
    http: {
      port: e.PORT,
      host: e.HOST,
      /** undefined: 9464 for a full start, a free port for a joining process. */
      metricsPort: e.METRICS_PORT,
      metricsHost: e.METRICS_HOST,
      baseUrl: withoutSlash(e.BASE_URL ?? local),
      appUrl: withoutSlash(e.APP_URL ?? local),
      dashboardUrl: withoutSlash(e.DASHBOARD_URL ?? local),
      trustProxy: e.TRUST_PROXY,
      /** Concurrent connections of one process. */
      maxConnections: e.HTTP_MAX_CONNECTIONS,
      /** How long a stopping API still takes requests. */
      drainMs: e.DRAIN_SECONDS * 1_000,
    },
    dataDir: resolve(e.DATA_DIR),
    kafka: {
      /** host:port or user:password@host:port each; undefined: embedded. */
      brokers: e.KAFKA_BROKERS?.map((broker) => broker.replace('kafka://', '')),
      topicPrefix: e.KAFKA_TOPIC_PREFIX,
      security: securityOf(e),
      /** Copies of each partition that topics must have; undefined: as many as there are brokers, at most 3. */
      replication: e.KAFKA_REPLICATION,
      /** By topic, without the prefix, where they are not the declared ones. */
      partitions: Object.fromEntries(e.KAFKA_PARTITIONS.map(partitionsOf)),
    },
    postgresUrl: e.DATABASE_URL,
    postgresMustBeSynchronous: e.DATABASE_SYNCHRONOUS,
    clickhouseUrl: e.CLICKHOUSE_URL,
    clickhouse: { caFile: e.CLICKHOUSE_CA_FILE },
    /** Which engines this installation embeds; set by the parent process for its children. */
    embedded: {
      kafka: e.FORUM_EMBEDDED.includes('kafka'),
      postgres: e.FORUM_EMBEDDED.includes('postgres'),
      clickhouse: e.FORUM_EMBEDDED.includes('clickhouse'),
    },
    secretKey: e.SECRET_KEY,
    /** Opens what was sealed before, or what other processes seal already. */
    secretKeyPrevious: e.SECRET_KEY_PREVIOUS,
    upstream: {
      /** undefined: the simulator. */
      clients: e.UPSTREAM_CLIENTS?.map((client) => {
        const colon = client.indexOf(':');
        return { id: client.slice(0, colon), secret: client.slice(colon + 1) };
      }),
      url: withoutSlash(e.UPSTREAM_URL),
      tokenUrl: e.UPSTREAM_TOKEN_URL,
      siteUrl: withoutSlash(e.UPSTREAM_SITE_URL),
      userAgent: e.UPSTREAM_USER_AGENT,
      /** Guaranteed shares of the forum's budget, each from 0 to 1, together at most 1. */
      shares: {
        live: e.UPSTREAM_LIVE_SHARE / 100,
        reading: e.UPSTREAM_READING_SHARE / 100,
        audit: e.UPSTREAM_AUDIT_SHARE / 100,
      },
    },
    crawlSources: e.CRAWL_SOURCES,
    /** Groups of matchers that the monitors are shared out over, and that of this process, from 1 or undefined. */
    matcher: { shards: e.MATCHER_SHARDS, shard: e.MATCHER_SHARD },
    /** Records that may wait for the matcher before a replay pauses. */
    replayMaxLag: e.REPLAY_MOST_LAG,
    simulatorRate: e.SIMULATOR_RATE,
    /** undefined: tracing is off. */
    tracing:
      e.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : { endpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: e.OTEL_TRACES_SAMPLER_ARG },
    deliverer: { attemptsAtOnce: e.WEBHOOK_ATTEMPTS_AT_ONCE },
    recorder: { suppressedPerDay: e.SUPPRESSED_MATCHES_PER_DAY },
    webhooks: { allowPrivate: e.WEBHOOK_ALLOW_PRIVATE, egressProxy: e.WEBHOOK_EGRESS_PROXY },
    /** Without smtpUrl mails are written to the data directory's outbox. */
    mail: { smtpUrl: e.SMTP_URL, from: e.MAIL_FROM ?? `no-reply@${new URL(e.APP_URL ?? local).hostname}` },
    signup: {
      enabled: e.AGENT_SIGNUP,
      /** Codes that all processes together mail in any hour. */
      perHour: e.AGENT_SIGNUP_PER_HOUR,
      signInPerHour: e.SIGN_IN_PER_HOUR,
      /** Codes of each purpose that a /24 or a /64 may request in any hour. */
      perNetwork: e.CODES_PER_NETWORK,
      dnsCheck: e.SIGNUP_DNS_CHECK,
    },
    /** undefined: packs cannot be bought. */
    payments: paymentsOf(e),
    /** Set by the parent process for its children. */
    hasSimulatedForum: e.FORUM_SIMULATED.includes('forum'),
    /** undefined: by whether the output is a terminal. */
    logFormat: e.LOG_FORMAT,
    logLevel: e.LOG_LEVEL,
  };
}

function partitionsOf(entry: string): [string, number] {
  const [topic = '', count] = entry.split('=');
  return [topic, Number(count)];
}

function securityOf(e: z.infer<typeof ENVIRONMENT>): KafkaSecurity {
  // The embedded broker, which listens on loopback, has its own password and no certificate.
  if (e.FORUM_EMBEDDED.includes('kafka')) return NO_SECURITY;
  const { KAFKA_TLS_CA_FILE: caFile, KAFKA_TLS_CERT_FILE: certificateFile, KAFKA_TLS_KEY_FILE: keyFile } = e;
  return { mechanism: e.KAFKA_SASL_MECHANISM, tls: e.KAFKA_TLS ? { caFile, certificateFile, keyFile } : undefined };
}

function paymentsOf(e: z.infer<typeof ENVIRONMENT>) {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecrets } = e;
  if (secretKey === undefined || webhookSecrets === undefined) return undefined;
  const keyMode = /^.._live_/.test(secretKey) ? 'live' : 'test';
  /** trial: the payment simulator; test: a key with which no money moves. */
  const mode: 'trial' | 'test' | 'live' = e.FORUM_SIMULATED.includes('payments') ? 'trial' : keyMode;
  const given = { 9: e.STRIPE_PRICE_9, 29: e.STRIPE_PRICE_29, 79: e.STRIPE_PRICE_79 };
  /** Ids of prices by the price of the pack; without one the checkout names the amount. */
  const prices: Partial<Record<number, string>> = Object.fromEntries(
    Object.entries(given).filter(([, price]) => price !== undefined),
  );
  return {
    mode,
    secretKey,
    webhookSecrets,
    apiUrl: e.STRIPE_API_URL,
    prices,
    automaticTax: e.STRIPE_AUTOMATIC_TAX,
  };
}
