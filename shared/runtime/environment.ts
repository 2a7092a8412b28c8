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
  word,
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

/** All settings, each with what its documentation says: `npm run reference` writes docs/reference/configuration.md. */
export const VARIABLES = z.object({
  PORT: port().default(8080).describe('Port of the API, the dashboard and the documentation. 0: any free port.'),
  HOST: listenHost().default('127.0.0.1').describe('Address that the API listens on. 0.0.0.0: all interfaces.'),
  METRICS_PORT: port()
    .optional()
    .describe(
      'Port of Prometheus `/metrics`. By default 9464; a process that joins an installation takes a free port.',
    ),
  METRICS_HOST: listenHost()
    .default('127.0.0.1')
    .describe(
      'Address that `/metrics` listens on. Elsewhere than on loopback it shows how busy the service is, but no secret. A request by a name with a dot other than this one is refused.',
    ),
  HTTP_MAX_CONNECTIONS: wholeNumber(10, 1_000_000)
    .default(5_000)
    .describe(
      'Open connections of one API process. Beyond them, idle ones are closed first. One client address may have a tenth, unless TRUST_PROXY is set.',
    ),
  DRAIN_SECONDS: wholeNumber(0, 60)
    .default(0)
    .describe(
      'How long a stopping API process still serves requests while `/readyz` answers 503. Make it longer than your load balancer needs to notice.',
    ),
  BASE_URL: publicAddress()
    .optional()
    .describe('Public address of the API and the documentation. By default http://localhost:PORT.'),
  APP_URL: publicAddress()
    .optional()
    .describe('Public address of the sign-up pages. By default http://localhost:PORT.'),
  DASHBOARD_URL: publicAddress()
    .optional()
    .describe(
      'Public address of the dashboard, without `/dashboard`. By default http://localhost:PORT. The dashboard answers no other name with a dot, unless TRUST_PROXY is set.',
    ),
  TRUST_PROXY: trustProxy()
    .optional()
    .describe("Proxies in front of the API, in Express's syntax (`1`, `loopback`, a network)."),
  DATA_DIR: z.string().min(1).default('.data').describe('Folder of the embedded engines, keys and caches.'),
  KAFKA_BROKERS: filledList(z.string().regex(BROKER, BROKERS), BROKERS)
    .superRefine(refuseBrokers)
    .optional()
    .describe(
      'Brokers, as `host:port` or `kafka://user:password@host:port`, separated by commas. Unset: an embedded broker.',
    ),
  KAFKA_SASL_MECHANISM: word(SASL_MECHANISMS)
    .default('plain')
    .describe('How the user and password of KAFKA_BROKERS are sent: `plain`, `scram-sha-256` or `scram-sha-512`.'),
  KAFKA_TLS: flag()
    .default(false)
    .describe('1: connections to the brokers are encrypted and their certificates checked.'),
  KAFKA_TLS_CA_FILE: pemFile()
    .optional()
    .describe("PEM file of the authorities that sign the brokers' certificates. Unset: those that Node.js trusts."),
  KAFKA_TLS_CERT_FILE: pemFile().optional().describe('PEM file of a client certificate, for brokers that ask for one.'),
  KAFKA_TLS_KEY_FILE: pemFile().optional().describe('PEM file of the key of KAFKA_TLS_CERT_FILE.'),
  KAFKA_REPLICATION: wholeNumber(1, 9)
    .optional()
    .describe(
      'Copies of each partition that topics must have; with fewer, the start is refused. Unset: as many as there are brokers, at most 3, and fewer cause a warning.',
    ),
  KAFKA_PARTITIONS: list(z.string().regex(TOPIC_PARTITIONS, PARTITIONS))
    .default([])
    .describe('Numbers of partitions that differ from the usual ones: `TOPIC=COUNT`, separated by commas.'),
  KAFKA_JARS_URL: url({ protocols: ['https', 'http'], credentials: true })
    .optional()
    .describe(
      'Maven repository from which the embedded broker is fetched. Unset: the mirror of your Maven settings, or https://repo.maven.apache.org/maven2.',
    ),
  DATABASE_URL: url(
    { protocols: ['postgres', 'postgresql'], credentials: true, query: true, noHost: true },
    addressesOf,
  )
    .optional()
    .describe(
      'PostgreSQL. Several hosts may be named (`postgres://user:password@a:5432,b:5432/forum`); the primary is used. Unset: an embedded server.',
    ),
  DATABASE_SYNCHRONOUS: flag()
    .default(false)
    .describe(
      "1: a start waits until PostgreSQL's commits wait for a standby that is connected. 0: it only warns where DATABASE_URL names several hosts.",
    ),
  CLICKHOUSE_URL: url({ protocols: ['http', 'https'], credentials: true, query: true })
    .optional()
    .describe("ClickHouse's HTTP interface. Unset: an embedded engine."),
  CLICKHOUSE_CA_FILE: pemFile()
    .optional()
    .describe(
      'PEM file of the authorities that sign the certificate of an `https://` CLICKHOUSE_URL. Unset: those that Node.js trusts.',
    ),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,100}$/, 'can contain letters, digits, dots, dashes and underscores')
    .default('')
    .describe('Prefix of all topics and consumer groups, so that installations can share a cluster.'),
  SECRET_KEY: z
    .string()
    .refine((key) => key.trim().length >= 32, { message: 'must have at least 32 characters' })
    .optional()
    .describe(
      'Encrypts secrets at rest, and keys the hashes of codes and mailboxes. Unset: generated once and kept in PostgreSQL.',
    ),
  SECRET_KEY_PREVIOUS: z
    .string()
    .refine((key) => key.trim().length >= 32, { message: 'must have at least 32 characters' })
    .optional()
    .describe('A second key that opens what it sealed, while SECRET_KEY is replaced.'),
  UPSTREAM_CLIENTS: filledList(z.string().regex(/^[^:\s]+:\S+$/, CLIENTS), CLIENTS)
    .refine(
      (clients) => new Set(clients.map((client) => client.split(':')[0])).size === clients.length,
      'contains a client twice',
    )
    .optional()
    .describe('OAuth clients of the forum, as `id:secret`, separated by commas. Unset: the built-in simulator.'),
  UPSTREAM_URL: publicAddress().default('https://oauth.reddit.com').describe("The forum's API."),
  UPSTREAM_TOKEN_URL: publicAddress()
    .default('https://www.reddit.com/api/v1/access_token')
    .describe("The forum's token endpoint."),
  UPSTREAM_SITE_URL: publicAddress()
    .default('https://www.reddit.com')
    .describe("The forum's public site, with which links begin."),
  UPSTREAM_USER_AGENT: headerText()
    .default('server:forum-monitor:1.0.0 (by /u/forum-monitor)')
    .describe('User agent of requests to the forum.'),
  UPSTREAM_LIVE_SHARE: decimal(0, 100)
    .default(60)
    .describe("Percent of the forum's calls that are reserved for crawling. Idle calls are lent."),
  UPSTREAM_READING_SHARE: decimal(0, 100)
    .default(20)
    .describe("Percent of the forum's calls that are reserved for readers of the API."),
  UPSTREAM_AUDIT_SHARE: decimal(0, 100)
    .default(2)
    .describe("Percent of the forum's calls that are reserved for audits of coverage."),
  CRAWL_SOURCES: list(z.string().refine(isSource, `can contain ${SOURCE_NAMES.join(', ')} and replay:FILE`))
    .default(['post-ids', 'listings', 'threads'])
    .describe(
      'What to crawl: any of `post-ids`, `comment-ids`, `listings`, `threads`, and `replay:FILE` (a dump; plain, gzip or zstd). Empty: nothing.',
    ),
  REPLAY_MOST_LAG: wholeNumber(1, 1_000_000_000)
    .default(10_000)
    .describe('A replay pauses while the matcher is more than this many records behind.'),
  SIMULATOR_RATE: decimal(0, 20_000).default(20).describe('New items a second in the built-in simulator.'),
  MATCHER_SHARDS: wholeNumber(1, MOST_SHARDS)
    .default(1)
    .describe('Groups of matchers that the monitors are divided among. The same for every process.'),
  MATCHER_SHARD: wholeNumber(1, MOST_SHARDS)
    .optional()
    .describe('The group that the matcher of this process belongs to, from 1.'),
  SUPPRESSED_MATCHES_PER_DAY: wholeNumber(0, 10_000_000)
    .default(SUPPRESSED_PER_DAY)
    .describe('Matches over the daily cap that are stored for a monitor and UTC day. Further ones are only counted.'),
  WEBHOOK_ALLOW_PRIVATE: flag()
    .default(false)
    .describe('1: webhooks may use http:// and private addresses. For development only.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url({ protocols: ['http', 'https'] })
    .optional()
    .describe('Collector that traces are sent to, by OTLP over HTTP, at `/v1/traces` below it. Unset: no tracing.'),
  OTEL_TRACES_SAMPLER_ARG: decimal(0, 1)
    .default(0.01)
    .describe('Share of items and requests that are traced, from 0 to 1.'),
  WEBHOOK_ATTEMPTS_AT_ONCE: wholeNumber(8, 50_000)
    .default(1_024)
    .describe('Concurrent webhook attempts of each process.'),
  WEBHOOK_EGRESS_PROXY: url({ protocols: ['http'], credentials: true, path: false })
    .optional()
    .describe('CONNECT proxy that webhooks are sent through.'),
  SMTP_URL: url({ protocols: ['smtp', 'smtps'], credentials: true, query: true })
    .optional()
    .describe('Mail server (smtp:// or smtps://). Unset: mails are written to `DATA_DIR/outbox`.'),
  MAIL_FROM: mailSender().optional().describe('Sender of mails. By default no-reply at the host of APP_URL.'),
  SIGNUP_DNS_CHECK: flag().default(true).describe('0: the domains of mail addresses are not looked up.'),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(
      /^(sk|rk)_(test|live)_[\w-]+$/,
      'must be a secret or restricted key: sk_live_…, rk_live_…, sk_test_… or rk_test_…',
    )
    .optional()
    .describe('Sells packs by Stripe Checkout. Unset: packs are not sold.'),
  STRIPE_WEBHOOK_SECRET: filledList(z.string().regex(/^whsec_\S+$/, WEBHOOK_SECRETS), WEBHOOK_SECRETS)
    .refine((secrets) => secrets.length <= 2, WEBHOOK_SECRETS)
    .optional()
    .describe("Secret of Stripe's webhook; two, separated by a comma, while one replaces the other."),
  STRIPE_API_URL: url({ protocols: ['https', 'http'], path: false })
    .optional()
    .describe("Another address of Stripe's API, for tests."),
  STRIPE_PRICE_9: priceId()
    .optional()
    .describe('Id of the price of the $9 pack in Stripe. Unset: the checkout states the amount.'),
  STRIPE_PRICE_29: priceId().optional().describe('Id of the price of the $29 pack in Stripe.'),
  STRIPE_PRICE_79: priceId().optional().describe('Id of the price of the $79 pack in Stripe.'),
  STRIPE_AUTOMATIC_TAX: flag().default(false).describe('1: Stripe adds taxes to the price.'),
  AGENT_SIGNUP: flag().default(true).describe('0: sign-up is off and answers 503.'),
  AGENT_SIGNUP_PER_HOUR: wholeNumber(1, 10_000)
    .default(500)
    .describe('Sign-up codes mailed in an hour. Beyond them sign-up answers 503.'),
  SIGN_IN_PER_HOUR: wholeNumber(1, 10_000)
    .default(1_000)
    .describe('Sign-in codes mailed in an hour, independent of sign-up.'),
  CODES_PER_NETWORK: wholeNumber(1, 1_000)
    .default(20)
    .describe('Codes an hour, for each purpose, for a /24 or /64; twice as many for a /56, four times for a /48.'),
  LOG_LEVEL: word(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe(
      '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Unset, `npm start` in a terminal shows only what is wrong.',
    ),
  LOG_FORMAT: word(['pretty', 'json'])
    .optional()
    .describe(
      '`json`: a JSON object a line. `pretty`: for people. By default `pretty` in a terminal, and `json` elsewhere.',
    ),
  FORUM_EMBEDDED: list(z.enum(['kafka', 'postgres', 'clickhouse'])).default([]),
  FORUM_SIMULATED: list(z.enum(['forum', 'payments'])).default([]),
});

const NO_CLUSTER =
  'is not offered any more: the archive is one server, which `admin archive rebuild` fills anew after a loss. ClickHouse Cloud replicates without a setting. Unset it, with CLICKHOUSE_URL of an empty database.';

/** All variables, with the rules that concern several of them. */
export const ENVIRONMENT = VARIABLES.extend({
  // Whoever set it believes that the archive has several copies.
  CLICKHOUSE_CLUSTER: z.undefined({ message: NO_CLUSTER }).optional(),
}).superRefine((e, context) => {
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
      `with UPSTREAM_READING_SHARE and UPSTREAM_AUDIT_SHARE it is ${together} % together, more than 100 %`,
    );
  }
  // Without the secret nothing that is paid would be credited; without the key nothing is sold.
  requireBoth('STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET');
  const takesMoney = /^.._live_/.test(e.STRIPE_SECRET_KEY ?? '');
  // Whoever buys a pack could then reach the machines beside this one.
  if (e.WEBHOOK_ALLOW_PRIVATE && takesMoney) {
    refuse('WEBHOOK_ALLOW_PRIVATE', 'must not be 1 together with a live STRIPE_SECRET_KEY');
  }
  // Its customers would pay, and their payments would count as trials that credit nothing.
  if (e.FORUM_SIMULATED.includes('payments') && takesMoney) {
    refuse('FORUM_SIMULATED', 'must not have payments together with a live STRIPE_SECRET_KEY');
  }
  if (e.SECRET_KEY_PREVIOUS !== undefined && e.SECRET_KEY_PREVIOUS === e.SECRET_KEY) {
    refuse('SECRET_KEY_PREVIOUS', 'must differ from SECRET_KEY');
  }
  if (e.SECRET_KEY_PREVIOUS !== undefined) requireBoth('SECRET_KEY', 'SECRET_KEY_PREVIOUS');
  requireBoth('KAFKA_TLS_CERT_FILE', 'KAFKA_TLS_KEY_FILE');
  // Whoever names certificates expects encryption.
  if (!e.KAFKA_TLS && (e.KAFKA_TLS_CERT_FILE ?? e.KAFKA_TLS_CA_FILE) !== undefined) {
    refuse('KAFKA_TLS', 'must be 1 when TLS files are set');
  }
  if ((e.MATCHER_SHARD ?? 1) > e.MATCHER_SHARDS) {
    refuse('MATCHER_SHARD', `must be a whole number from 1 to MATCHER_SHARDS, ${e.MATCHER_SHARDS}`);
  }
  if (e.PORT !== 0 && e.PORT === e.METRICS_PORT) refuse('METRICS_PORT', 'must differ from PORT');
});
