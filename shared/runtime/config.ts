import { resolve } from 'node:path';
import { z } from 'zod';
import { SUPPRESSED_PER_DAY } from '../domain/match-numbering.ts';

/** The environment is faulty; the message lists every fault. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

const CRAWL_SOURCE = /^(post-ids|comment-ids|listings|threads|replay:.+)$/;

const port = z.coerce.number().int().min(0).max(65535);
/** A share, in percent. */
const percent = (byDefault: number) => z.coerce.number().min(0).max(100).default(byDefault);
const flag = z.enum(['0', '1']).transform((value) => value === '1');
const url = (...protocols: string[]) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol.slice(0, -1)), {
    message: `must be a URL that starts with ${protocols.map((p) => `${p}://`).join(' or ')}`,
  });
const list = (item: z.ZodString) =>
  z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item));

/** A new variable also needs a row in the table of README.md: `test/architecture/structure.test.ts` compares them. */
const VARIABLES = z.object({
  PORT: port.default(8080),
  HOST: z.string().min(1).default('127.0.0.1'),
  METRICS_PORT: port.optional(),
  HTTP_MAX_CONNECTIONS: z.coerce.number().int().min(10).max(1_000_000).default(5_000),
  BASE_URL: url('http', 'https').optional(),
  APP_URL: url('http', 'https').optional(),
  DASHBOARD_URL: url('http', 'https').optional(),
  TRUST_PROXY: z.string().optional(),
  DATA_DIR: z.string().min(1).default('.data'),
  KAFKA_BROKERS: list(
    z
      .string()
      .regex(
        /^(kafka:\/\/)?([^:@/\s]+:[^:@/\s]+@)?[^:@/\s]+:\d+$/,
        'must be host:port or kafka://user:password@host:port, separated by commas',
      ),
  ).optional(),
  DATABASE_URL: url('postgres', 'postgresql').optional(),
  CLICKHOUSE_URL: url('http', 'https').optional(),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,100}$/, 'may hold letters, digits, dots, dashes and underscores')
    .default(''),
  SECRET_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  UPSTREAM_CLIENTS: list(z.string().regex(/^[^:]+:.+$/, 'must be id:secret, separated by commas')).optional(),
  UPSTREAM_URL: url('http', 'https').default('https://oauth.reddit.com'),
  UPSTREAM_TOKEN_URL: url('http', 'https').default('https://www.reddit.com/api/v1/access_token'),
  UPSTREAM_SITE_URL: url('http', 'https').default('https://www.reddit.com'),
  UPSTREAM_USER_AGENT: z.string().min(1).default('server:forum-monitor:0.1.0 (by /u/forum-monitor)'),
  UPSTREAM_LIVE_SHARE: percent(60),
  UPSTREAM_READING_SHARE: percent(20),
  UPSTREAM_AUDIT_SHARE: percent(2),
  CRAWL_SOURCES: list(
    z.string().regex(CRAWL_SOURCE, 'may name post-ids, comment-ids, listings, threads and replay:FILE'),
  ).default(['post-ids', 'listings', 'threads']),
  REPLAY_MOST_LAG: z.coerce.number().int().min(1).default(10_000),
  SIMULATOR_RATE: z.coerce.number().min(0).max(20_000).default(20),
  SUPPRESSED_MATCHES_PER_DAY: z.coerce.number().int().min(0).max(10_000_000).default(SUPPRESSED_PER_DAY),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  WEBHOOK_ATTEMPTS_AT_ONCE: z.coerce.number().int().min(8).max(50_000).default(1_024),
  WEBHOOK_EGRESS_PROXY: url('http').optional(),
  SMTP_URL: url('smtp', 'smtps').optional(),
  MAIL_FROM: z.string().min(3).optional(),
  SIGNUP_DNS_CHECK: flag.default(true),
  AGENT_SIGNUP: flag.default(true),
  AGENT_SIGNUP_PER_HOUR: z.coerce.number().int().min(1).max(10_000).default(500),
  SIGN_IN_PER_HOUR: z.coerce.number().int().min(1).max(10_000).default(1_000),
  CODES_PER_NETWORK: z.coerce.number().int().min(1).max(1_000).default(20),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  FORUM_EMBEDDED: list(z.string()).default([]),
});

const ENVIRONMENT = VARIABLES.superRefine((e, context) => {
  const together = e.UPSTREAM_LIVE_SHARE + e.UPSTREAM_READING_SHARE + e.UPSTREAM_AUDIT_SHARE;
  if (together <= 100) return;
  const message = `UPSTREAM_LIVE_SHARE, UPSTREAM_READING_SHARE and UPSTREAM_AUDIT_SHARE are ${together} % together, more than 100 %`;
  context.addIssue({ code: 'custom', path: ['UPSTREAM_LIVE_SHARE'], message });
});

/** The environment, parsed once. Nothing else reads the environment. */
export interface Config {
  http: {
    port: number;
    host: string;
    /** undefined: 9464 for a full start, a free port for a joining process. */
    metricsPort: number | undefined;
    baseUrl: string;
    appUrl: string;
    dashboardUrl: string;
    trustProxy: string | undefined;
    /** Concurrent connections of one process. */
    maxConnections: number;
  };
  /** Absolute path. */
  dataDir: string;
  kafka: {
    /** host:port or user:password@host:port each; undefined: embedded. */
    brokers: string[] | undefined;
    topicPrefix: string;
  };
  postgresUrl: string | undefined;
  clickhouseUrl: string | undefined;
  /** Which engines this installation embeds; set by the parent process for its children. */
  embedded: { kafka: boolean; postgres: boolean; clickhouse: boolean };
  secretKey: string | undefined;
  upstream: {
    /** undefined: the simulator. */
    clients: { id: string; secret: string }[] | undefined;
    url: string;
    tokenUrl: string;
    siteUrl: string;
    userAgent: string;
    /** Guaranteed shares of the forum's budget, each from 0 to 1, together at most 1. */
    shares: { live: number; reading: number; audit: number };
  };
  crawlSources: string[];
  /** Records that may wait for the matcher before a replay pauses. */
  replayMaxLag: number;
  simulatorRate: number;
  recorder: {
    /** Suppressed matches that a monitor may store per UTC day. */
    suppressedPerDay: number;
  };
  webhooks: { allowPrivate: boolean; egressProxy: string | undefined };
  deliverer: {
    /** Concurrent webhook attempts of each process. */
    attemptsAtOnce: number;
  };
  mail: {
    /** undefined: mails are written to the data directory's outbox. */
    smtpUrl: string | undefined;
    from: string;
  };
  signup: {
    enabled: boolean;
    /** Sign-up codes that all processes together mail in any hour. */
    perHour: number;
    /** Sign-in codes that all processes together mail in any hour. */
    signInPerHour: number;
    /** Codes of each purpose that a /24 or a /64 may request in any hour. */
    perNetwork: number;
    /** Whether sign-up looks up the domain of an address. */
    dnsCheck: boolean;
  };
  logLevel: string;
}

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
    const faults = parsed.error.issues.map((issue) => `  ${String(issue.path[0])}: ${issue.message}`);
    throw new ConfigError(`The environment has ${faults.length === 1 ? 'a fault' : 'faults'}:\n${faults.join('\n')}`);
  }
  return toConfig(parsed.data);
}

function toConfig(e: z.infer<typeof ENVIRONMENT>): Config {
  const local = `http://localhost:${e.PORT}`;
  const withoutSlash = (value: string) => value.replace(/(?<!\/)\/+$/, '');
  return {
    http: {
      port: e.PORT,
      host: e.HOST,
      metricsPort: e.METRICS_PORT,
      baseUrl: withoutSlash(e.BASE_URL ?? local),
      appUrl: withoutSlash(e.APP_URL ?? local),
      dashboardUrl: withoutSlash(e.DASHBOARD_URL ?? local),
      trustProxy: e.TRUST_PROXY,
      maxConnections: e.HTTP_MAX_CONNECTIONS,
    },
    dataDir: resolve(e.DATA_DIR),
    kafka: {
      brokers: e.KAFKA_BROKERS?.map((broker) => broker.replace('kafka://', '')),
      topicPrefix: e.KAFKA_TOPIC_PREFIX,
    },
    postgresUrl: e.DATABASE_URL,
    clickhouseUrl: e.CLICKHOUSE_URL,
    embedded: {
      kafka: e.FORUM_EMBEDDED.includes('kafka'),
      postgres: e.FORUM_EMBEDDED.includes('postgres'),
      clickhouse: e.FORUM_EMBEDDED.includes('clickhouse'),
    },
    secretKey: e.SECRET_KEY,
    upstream: {
      clients: e.UPSTREAM_CLIENTS?.map((client) => {
        const colon = client.indexOf(':');
        return { id: client.slice(0, colon), secret: client.slice(colon + 1) };
      }),
      url: withoutSlash(e.UPSTREAM_URL),
      tokenUrl: e.UPSTREAM_TOKEN_URL,
      siteUrl: withoutSlash(e.UPSTREAM_SITE_URL),
      userAgent: e.UPSTREAM_USER_AGENT,
      shares: {
        live: e.UPSTREAM_LIVE_SHARE / 100,
        reading: e.UPSTREAM_READING_SHARE / 100,
        audit: e.UPSTREAM_AUDIT_SHARE / 100,
      },
    },
    crawlSources: e.CRAWL_SOURCES,
    replayMaxLag: e.REPLAY_MOST_LAG,
    simulatorRate: e.SIMULATOR_RATE,
    deliverer: { attemptsAtOnce: e.WEBHOOK_ATTEMPTS_AT_ONCE },
    recorder: { suppressedPerDay: e.SUPPRESSED_MATCHES_PER_DAY },
    webhooks: { allowPrivate: e.WEBHOOK_ALLOW_PRIVATE, egressProxy: e.WEBHOOK_EGRESS_PROXY },
    mail: { smtpUrl: e.SMTP_URL, from: e.MAIL_FROM ?? `no-reply@${new URL(e.APP_URL ?? local).hostname}` },
    signup: {
      enabled: e.AGENT_SIGNUP,
      perHour: e.AGENT_SIGNUP_PER_HOUR,
      signInPerHour: e.SIGN_IN_PER_HOUR,
      perNetwork: e.CODES_PER_NETWORK,
      dnsCheck: e.SIGNUP_DNS_CHECK,
    },
    logLevel: e.LOG_LEVEL,
  };
}
