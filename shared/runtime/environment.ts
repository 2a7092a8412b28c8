import { z } from 'zod';
import { TOPICS } from '../../schemas/messages/topics.ts';
import { SUPPRESSED_PER_DAY } from '../matches/rules/match-decision.ts';
import { BROKER, parseBrokers, SASL_MECHANISMS } from '../kafka/broker-list.ts';
import { addressesOf } from '../postgres/postgres-servers.ts';
import { errorMessage } from './errors.ts';
import {
  decimal,
  filledList,
  flag,
  headerText,
  list,
  listenHost,
  mailSender,
  pemFile,
  port,
  trustProxy,
  url,
  wholeNumber,
} from './setting-schemas.ts';

/** What CRAWL_SOURCES may name, besides `replay:FILE`. */
export const SOURCE_NAMES = ['post-ids', 'comment-ids', 'listings', 'threads'] as const;
const isSource = (name: string) => SOURCE_NAMES.some((one) => one === name) || /^replay:.+$/.test(name);
const BROKERS = 'must be host:port or kafka://user:password@host:port, separated by commas';
/** A declared topic and its number of partitions, up to 10,000. */
const TOPIC_PARTITIONS = new RegExp(`^(${TOPICS.map(({ name }) => name).join('|')})=([1-9]\\d{0,3}|10000)$`);
const PARTITIONS = `must be TOPIC=COUNT, separated by commas, of ${TOPICS.map(({ name }) => name).join(', ')}`;
const WEBHOOK_SECRETS = 'must be whsec_…, or two of them separated by a comma';
const CLIENTS = 'must be id:secret, separated by commas';

const publicAddress = () => url({ protocols: ['http', 'https'] });

const priceId = () => z.string().regex(/^price_\w+$/, 'must be the id of a price: price_…');

function refuseBrokers(brokers: readonly string[], context: z.RefinementCtx): void {
  const ports = brokers.map((broker) => Number(broker.slice(broker.lastIndexOf(':') + 1)));
  if (ports.some((number) => number < 1 || number > 65_535)) context.addIssue({ code: 'custom', message: BROKERS });
  try {
    parseBrokers(brokers);
  } catch (error) {
    const message = error instanceof URIError ? 'user and password must be percent-encoded' : errorMessage(error);
    context.addIssue({ code: 'custom', message });
  }
}

const MOST_SHARDS = 64;

/** A new variable also needs a row in the table of README.md: `test/architecture/structure.test.ts` compares them. */
export const VARIABLES = z.object({
  PORT: port().default(8080),
  HOST: listenHost().default('127.0.0.1'),
  METRICS_PORT: port().optional(),
  METRICS_HOST: listenHost().default('127.0.0.1'),
  HTTP_MAX_CONNECTIONS: wholeNumber(10, 1_000_000).default(5_000),
  DRAIN_SECONDS: wholeNumber(0, 60).default(0),
  BASE_URL: publicAddress().optional(),
  APP_URL: publicAddress().optional(),
  DASHBOARD_URL: publicAddress().optional(),
  TRUST_PROXY: trustProxy().optional(),
  DATA_DIR: z.string().min(1).default('.data'),
  KAFKA_BROKERS: filledList(z.string().regex(BROKER, BROKERS), BROKERS).superRefine(refuseBrokers).optional(),
  KAFKA_SASL_MECHANISM: z.enum(SASL_MECHANISMS, { message: `must be ${SASL_MECHANISMS.join(', ')}` }).default('plain'),
  KAFKA_TLS: flag().default(false),
  KAFKA_TLS_CA_FILE: pemFile().optional(),
  KAFKA_TLS_CERT_FILE: pemFile().optional(),
  KAFKA_TLS_KEY_FILE: pemFile().optional(),
  KAFKA_REPLICATION: wholeNumber(1, 9).optional(),
  KAFKA_PARTITIONS: list(z.string().regex(TOPIC_PARTITIONS, PARTITIONS)).default([]),
  KAFKA_JARS_URL: url({ protocols: ['https', 'http'], credentials: true }).optional(),
  DATABASE_URL: url(
    { protocols: ['postgres', 'postgresql'], credentials: true, query: true, noHost: true },
    addressesOf,
  ).optional(),
  DATABASE_SYNCHRONOUS: flag().default(false),
  CLICKHOUSE_URL: url({ protocols: ['http', 'https'], credentials: true, query: true }).optional(),
  CLICKHOUSE_CA_FILE: pemFile().optional(),
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^([A-Za-z0-9_-]{1,100}|\{cluster\})$/, 'must be the name of a cluster, or {cluster}')
    .optional(),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,100}$/, 'may hold letters, digits, dots, dashes and underscores')
    .default(''),
  SECRET_KEY: z
    .string()
    .refine((key) => key.trim().length >= 32, { message: 'must have at least 32 characters' })
    .optional(),
  SECRET_KEY_PREVIOUS: z
    .string()
    .refine((key) => key.trim().length >= 32, { message: 'must have at least 32 characters' })
    .optional(),
  UPSTREAM_CLIENTS: filledList(z.string().regex(/^[^:\s]+:\S+$/, CLIENTS), CLIENTS)
    .refine(
      (clients) => new Set(clients.map((client) => client.split(':')[0])).size === clients.length,
      'names a client twice',
    )
    .optional(),
  UPSTREAM_URL: publicAddress().default('https://oauth.reddit.com'),
  UPSTREAM_TOKEN_URL: publicAddress().default('https://www.reddit.com/api/v1/access_token'),
  UPSTREAM_SITE_URL: publicAddress().default('https://www.reddit.com'),
  UPSTREAM_USER_AGENT: headerText().default('server:forum-monitor:1.0.0 (by /u/forum-monitor)'),
  UPSTREAM_LIVE_SHARE: decimal(0, 100).default(60),
  UPSTREAM_READING_SHARE: decimal(0, 100).default(20),
  UPSTREAM_AUDIT_SHARE: decimal(0, 100).default(2),
  CRAWL_SOURCES: list(z.string().refine(isSource, `may name ${SOURCE_NAMES.join(', ')} and replay:FILE`)).default([
    'post-ids',
    'listings',
    'threads',
  ]),
  REPLAY_MOST_LAG: wholeNumber(1, 1_000_000_000).default(10_000),
  SIMULATOR_RATE: decimal(0, 20_000).default(20),
  MATCHER_SHARDS: wholeNumber(1, MOST_SHARDS).default(1),
  MATCHER_SHARD: wholeNumber(1, MOST_SHARDS).optional(),
  SUPPRESSED_MATCHES_PER_DAY: wholeNumber(0, 10_000_000).default(SUPPRESSED_PER_DAY),
  WEBHOOK_ALLOW_PRIVATE: flag().default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: url({ protocols: ['http', 'https'] }).optional(),
  OTEL_TRACES_SAMPLER_ARG: decimal(0, 1).default(0.01),
  WEBHOOK_ATTEMPTS_AT_ONCE: wholeNumber(8, 50_000).default(1_024),
  WEBHOOK_EGRESS_PROXY: url({ protocols: ['http'], credentials: true, path: false }).optional(),
  SMTP_URL: url({ protocols: ['smtp', 'smtps'], credentials: true, query: true }).optional(),
  MAIL_FROM: mailSender().optional(),
  SIGNUP_DNS_CHECK: flag().default(true),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(
      /^(sk|rk)_(test|live)_[\w-]+$/,
      'must be a secret or restricted key: sk_live_…, rk_live_…, sk_test_… or rk_test_…',
    )
    .optional(),
  STRIPE_WEBHOOK_SECRET: filledList(z.string().regex(/^whsec_\S+$/, WEBHOOK_SECRETS), WEBHOOK_SECRETS)
    .refine((secrets) => secrets.length <= 2, WEBHOOK_SECRETS)
    .optional(),
  STRIPE_API_URL: url({ protocols: ['https', 'http'], path: false }).optional(),
  STRIPE_PRICE_9: priceId().optional(),
  STRIPE_PRICE_29: priceId().optional(),
  STRIPE_PRICE_79: priceId().optional(),
  STRIPE_AUTOMATIC_TAX: flag().default(false),
  AGENT_SIGNUP: flag().default(true),
  AGENT_SIGNUP_PER_HOUR: wholeNumber(1, 10_000).default(500),
  SIGN_IN_PER_HOUR: wholeNumber(1, 10_000).default(1_000),
  CODES_PER_NETWORK: wholeNumber(1, 1_000).default(20),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  FORUM_EMBEDDED: list(z.enum(['kafka', 'postgres', 'clickhouse'])).default([]),
  FORUM_SIMULATED: list(z.enum(['forum', 'payments'])).default([]),
});

/** All variables, with the rules that concern several of them. */
export const ENVIRONMENT = VARIABLES.superRefine((e, context) => {
  const refuse = (name: keyof typeof e, message: string) => context.addIssue({ code: 'custom', path: [name], message });
  const requireBoth = (a: keyof typeof e, b: keyof typeof e) => {
    if ((e[a] === undefined) === (e[b] === undefined)) return;
    const [missing, other] = e[a] === undefined ? [a, b] : [b, a];
    refuse(missing, `must be set together with ${other}`);
  };
  const together = e.UPSTREAM_LIVE_SHARE + e.UPSTREAM_READING_SHARE + e.UPSTREAM_AUDIT_SHARE;
  if (together > 100) {
    refuse(
      'UPSTREAM_LIVE_SHARE',
      `UPSTREAM_LIVE_SHARE, UPSTREAM_READING_SHARE and UPSTREAM_AUDIT_SHARE are ${together} % together, more than 100 %`,
    );
  }
  // Without the secret nothing that is paid would be credited; without the key nothing is sold.
  requireBoth('STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET');
  const takesMoney = /^.._live_/.test(e.STRIPE_SECRET_KEY ?? '');
  // Whoever buys a pack could then reach the machines beside this one.
  if (e.WEBHOOK_ALLOW_PRIVATE && takesMoney) {
    refuse('WEBHOOK_ALLOW_PRIVATE', 'must not be 1 beside a live STRIPE_SECRET_KEY');
  }
  // Its customers would pay, and their payments would count as trials that credit nothing.
  if (e.FORUM_SIMULATED.includes('payments') && takesMoney) {
    refuse('FORUM_SIMULATED', 'must not have payments beside a live STRIPE_SECRET_KEY');
  }
  if (e.SECRET_KEY_PREVIOUS !== undefined && e.SECRET_KEY_PREVIOUS === e.SECRET_KEY) {
    refuse('SECRET_KEY_PREVIOUS', 'must be another key than SECRET_KEY');
  }
  if (e.SECRET_KEY_PREVIOUS !== undefined) requireBoth('SECRET_KEY', 'SECRET_KEY_PREVIOUS');
  requireBoth('KAFKA_TLS_CERT_FILE', 'KAFKA_TLS_KEY_FILE');
  // Whoever names certificates expects encryption.
  if (!e.KAFKA_TLS && (e.KAFKA_TLS_CERT_FILE ?? e.KAFKA_TLS_CA_FILE) !== undefined) {
    refuse('KAFKA_TLS', 'must be 1 where files for TLS are named');
  }
  if ((e.MATCHER_SHARD ?? 1) > e.MATCHER_SHARDS) {
    refuse('MATCHER_SHARD', `must be a whole number from 1 to MATCHER_SHARDS, ${e.MATCHER_SHARDS}`);
  }
  if (e.PORT !== 0 && e.PORT === e.METRICS_PORT) refuse('METRICS_PORT', 'must be another port than PORT');
});
