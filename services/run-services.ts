import { join } from 'node:path';
import { FORUM_COMMENTS, FORUM_POSTS, TOPICS, groupsOfTopic, matcherGroups } from '../schemas/messages/topics.ts';
import { createStripe } from '../shared/billing/stripe.ts';
import type { BudgetedUpstream } from '../shared/forum-client/upstream-client.ts';
import { DiskCache } from './api/reading/cached-reads.ts';
import { secretBoxOf } from '../shared/maintenance/settings.ts';
import { createDnsLookup, createSystemLookup } from '../shared/http/public-address.ts';
import type { AddressLookup } from '../shared/http/public-address.ts';
import { createEgressClient } from '../shared/http/egress-client.ts';
import type { EgressClient } from '../shared/http/egress-client.ts';
import { readGroupLags, startLagMonitor } from '../shared/kafka/group-progress.ts';
import type { Subscription } from '../shared/kafka/group-progress.ts';
import { createPublisher } from '../shared/kafka/publisher.ts';
import type { Publisher, PublisherDeps } from '../shared/kafka/publisher.ts';
import { groupPositions, lagOf } from '../shared/kafka/topic-admin.ts';
import { createMailDomainCheck } from '../shared/mail/mail-domain.ts';
import { createMailer } from '../shared/mail/mailer.ts';
import type { Mailer } from '../shared/mail/mailer.ts';
import { CLOCK_TOLERANCE_MS } from '../shared/matches/rules/match-decision.ts';
import { createPool, exportPoolUse, REQUEST_LIMITS } from '../shared/postgres/pool.ts';
import type { MonitorShard } from '../shared/rules/identifiers.ts';
import { createSteadyClock, systemClock } from '../shared/runtime/clock.ts';
import { ConfigError } from '../shared/runtime/config.ts';
import type { Config } from '../shared/runtime/config.ts';
import type { Running } from '../shared/runtime/lifecycle.ts';
import { startOperationsServer, urlOf } from '../shared/runtime/operations-server.ts';
import { openSqlFolder } from './api/sql/sql-box.ts';
import { startArchiver } from './archiver/start-archiver.ts';
import { startBiller } from './biller/start-biller.ts';
import { connectUpstream, createEngineClients, prepareEngines } from './connect-engines.ts';
import type { Installation, ProcessDeps } from './connect-engines.ts';
import { listenForItems } from './crawler/seen-items.ts';
import { startCoverage } from './crawler/coverage/start-coverage.ts';
import { startClockComparison } from './crawler/clock-comparison.ts';
import { startCrawler } from './crawler/start-crawler.ts';
import { startDeliverer } from './deliverer/start-deliverer.ts';
import { startMatcher } from './matcher/start-matcher.ts';
import { Readiness } from './readiness.ts';
import { startRecording } from './recorder/start-recorder.ts';
import type { ServiceName } from './service-names.ts';
import { watchDisks, watchedFolders } from './watch-disks.ts';
import type { DiskWatch } from './watch-disks.ts';

const FORUM_CALLERS: readonly ServiceName[] = ['api', 'crawler'];

const API_CONNECTIONS = 20;

/** Holds about 20,000 threads. */
const POST_CACHE_BYTES = 512 * 1024 * 1024;

/** How long a service may take to stop, beside the API's DRAIN_SECONDS. */
const STOP_MS = 10_000;

/** Publishes the addresses of the services once they answer; /readyz answers 200 only afterwards. */
type Announce = (addresses: { api: string; metrics: string }) => Promise<void>;

/** What every service is given: the engines, and the forum's client, whose budget the services of a process share. */
type ServiceDeps = Installation & { upstream: BudgetedUpstream; disks: DiskWatch };

type Started = { stop(): Promise<void> } & (
  { ready(): boolean } | { ready(): boolean; isHalted(): boolean } | { port: number } | object
);

interface Starter {
  name: ServiceName;
  start: (deps: ServiceDeps, readiness: Readiness) => Promise<Started> | Started;
}

/** Downstream first: the next stage of an item runs before the item is published. */
const STARTERS: readonly Starter[] = [
  { name: 'api', start: startApiService },
  { name: 'biller', start: startBillerService },
  { name: 'archiver', start: startArchiverService },
  { name: 'deliverer', start: startDelivererService },
  { name: 'recorder', start: startRecorderService },
  { name: 'matcher', start: startMatcherService },
  { name: 'crawler', start: startCrawlerService },
];

/**
 * The composition root: creates every client, pool and publisher, and registers each to be stopped in reverse order.
 * Resolves when all services are ready.
 */
export async function runServices(
  deps: ProcessDeps & { services: readonly ServiceName[]; announce: Announce },
): Promise<{ api: string; metrics: string }> {
  const { config, lifecycle, services, signal } = deps;
  // Before anything waits for this process.
  if (services.includes('api')) await loadApi();
  if (services.includes('matcher')) shardOf(config);
  const clients = createEngineClients(deps);
  // Where several processes share a machine, the first binds METRICS_PORT; a joining one binds a free port and logs it.
  const { metricsHost: host, metricsPort: port = 0 } = config.http;
  const readiness = new Readiness({ ...clients, services });
  // Before the engines answer: whatever runs this process sees that it is alive and what it waits for.
  const operations = await startOperationsServer(clients.metrics, { host, port }, readiness);
  lifecycle.add('metrics', operations);
  deps.logger.info({ services, metrics: operations.url }, 'starting');
  const engines = await prepareEngines(clients);
  const callsForum = services.some((service) => FORUM_CALLERS.includes(service));
  const { logger, metrics } = engines;
  const disks = lifecycle.add('disks', await watchDataDir(deps, { metrics, logger }));
  const upstream = await connectUpstream(engines, { callsForum });
  const installation: ServiceDeps = { ...engines, upstream, disks };
  let api = '';
  for (const { name, start } of STARTERS) {
    if (!services.includes(name)) continue;
    const service = lifecycle.add(name, await start(installation, readiness), STOP_MS + config.http.drainMs);
    readiness.add(
      name,
      () => ('ready' in service ? service.ready() : true),
      () => 'isHalted' in service && service.isHalted(),
    );
    if ('port' in service) api = urlOf(config.http.host, service.port);
  }
  lifecycle.add('lag', watchLag(installation));
  await readiness.untilReady(signal);
  const addresses = { api, metrics: operations.url };
  if (!signal.aborted) await deps.announce(addresses);
  readiness.markAnnounced();
  lifecycle.onStop('readiness', () => readiness.markStopping());
  return addresses;
}

function watchDataDir(
  { config, ownsDataDir }: ProcessDeps,
  deps: Pick<Installation, 'metrics' | 'logger'>,
): Promise<DiskWatch> {
  const reservePath = ownsDataDir ? join(config.dataDir, 'reserve') : undefined;
  return watchDisks({ ...deps, folders: watchedFolders(config, { ownsDataDir }), reservePath });
}

/** The API's modules take four times as long to load as those of any other service, so only its processes load them. */
async function loadApi() {
  const { ensureDemoAccount } = await import('./api/demo-account.ts');
  const { startMatchWakeUps } = await import('./api/matches/live-tails.ts');
  const { startApi } = await import('./api/start-api.ts');
  return { ensureDemoAccount, startMatchWakeUps, startApi };
}

async function startApiService(deps: ServiceDeps, readiness: Readiness): Promise<Started> {
  const { config, logger, lifecycle } = deps;
  const { ensureDemoAccount, startMatchWakeUps, startApi } = await loadApi();
  if (config.embedded.postgres) await ensureDemoAccount(deps.pool, { dataDir: config.dataDir });
  // A separate pool: requests time out sooner than background work, which must not take their connections.
  const pool = createPool({
    url: deps.postgresUrl,
    name: 'forum-monitor api',
    logger,
    max: API_CONNECTIONS,
    limits: REQUEST_LIMITS,
  });
  exportPoolUse(pool, { name: 'api', metrics: deps.metrics });
  lifecycle.onStop('postgres of the api', () => pool.end());
  const lookup = createLookup(deps);
  return startApi({
    ...deps,
    pool,
    secretBox: secretBoxOf(deps),
    http: config.http,
    webhooks: { allowPrivate: config.webhooks.allowPrivate, lookup },
    suppressedPerDay: config.recorder.suppressedPerDay,
    egress: createEgress(deps, lookup, 'test deliveries'),
    signup: config.signup,
    mailer: createServiceMailer(deps),
    acceptsMail: config.signup.dnsCheck ? createMailDomainCheck() : undefined,
    forum: {
      upstream: deps.upstream,
      siteUrl: config.upstream.siteUrl,
      clock: systemClock,
      disk: openPostCache(deps),
    },
    ready: () => readiness.answer(),
    consumerLag: () => readGroupLags({ ...deps, subscriptions: subscriptionsOf(config.matcher.shards) }),
    payments: connectPayments(deps),
    sqlFolder: openSqlFolder(join(config.dataDir, 'sql')),
    liveTail: { wakeUps: lifecycle.add('live tail', startMatchWakeUps(deps)) },
  });
}

function startBillerService(deps: ServiceDeps): Started {
  const { hasSimulatedForum, http } = deps.config;
  const mailer = createServiceMailer(deps);
  const payments = connectPayments(deps);
  const secretBox = secretBoxOf(deps);
  return startBiller({ ...deps, mailer, dashboardUrl: http.dashboardUrl, secretBox, hasSimulatedForum, payments });
}

function createServiceMailer({ config }: Installation): Mailer {
  return createMailer({ ...config.mail, outbox: join(config.dataDir, 'outbox') });
}

/** The payment provider's client and its settings; undefined when packs cannot be bought. */
function connectPayments({ config: { payments } }: ServiceDeps) {
  return payments && { stripe: createStripe(payments), settings: payments, clock: systemClock };
}

/** Resolves after the first attempt to migrate ClickHouse, for which no other service waits. */
async function startArchiverService(deps: ServiceDeps): Promise<Started> {
  const publisher = await addPublisher(deps);
  const archiver = await startArchiver({ ...deps, publisher, archiveReady: deps.archiveSchema.ready });
  await Promise.race([archiver.started, deps.archiveSchema.attempted]);
  return archiver;
}

async function startDelivererService(deps: ServiceDeps): Promise<Started> {
  const publisher = await addPublisher(deps);
  return startDeliverer({
    ...deps,
    publisher,
    egress: createEgress(deps, createLookup(deps), 'webhooks'),
    secretBox: secretBoxOf(deps),
    limits: { total: deps.config.deliverer.attemptsAtOnce },
  });
}

async function startRecorderService(deps: ServiceDeps): Promise<Started> {
  const { recorder, matcher } = deps.config;
  const publishers = { live: await addPublisher(deps), backfills: await addPublisher(deps) };
  const archiveReady = deps.archiveSchema.ready;
  const settings = { ...recorder, matcherShards: matcher.shards, toleranceMs: clockTolerance(deps) };
  return startRecording({ ...deps, publishers, archiveReady, ...settings });
}

/** @throws ConfigError when there are several shards and MATCHER_SHARD is not set */
function shardOf({ matcher: { shard, shards } }: Config): MonitorShard {
  if (shard === undefined && shards > 1) {
    throw new ConfigError(`MATCHER_SHARD: must be set for a matcher, to a number from 1 to MATCHER_SHARDS (${shards})`);
  }
  return { shard: shard ?? 1, shards };
}

async function startMatcherService(deps: ServiceDeps): Promise<Started> {
  const publisher = await addPublisher(deps);
  return startMatcher({ ...deps, publisher, shard: shardOf(deps.config), toleranceMs: clockTolerance(deps) });
}

async function startCrawlerService(deps: ServiceDeps): Promise<Started> {
  const { config, archiveSchema, upstream } = deps;
  const clock = createSteadyClock();
  const coverage = startCoverage({
    ...deps,
    archiveReady: archiveSchema.ready,
    allowedPerSecond: () => upstream.budget.allowedPerSecond(),
    clock,
  });
  deps.lifecycle.add('coverage', coverage);
  const clocks = deps.lifecycle.add('clocks', startClockComparison(deps));
  const publisher = await addPublisher({ ...deps, onAppended: clocks.appended });
  return startCrawler({
    ...deps,
    publisher,
    sources: config.crawlSources,
    siteUrl: config.upstream.siteUrl,
    archive: { clickhouse: deps.clickhouse, ready: archiveSchema.ready },
    listenForItems: (onItem) => listenForItems({ ...deps, onItem }),
    mayCall: () => deps.disks.hasRoom(),
    replayLag: { read: () => matcherLag(deps), max: config.replayMaxLag },
    clock,
  });
}

async function addPublisher(deps: Installation & Pick<PublisherDeps, 'onAppended'>): Promise<Publisher> {
  return deps.lifecycle.add('publisher', await createPublisher(deps));
}

function createLookup({ config }: Installation): AddressLookup {
  return config.webhooks.allowPrivate ? createSystemLookup() : createDnsLookup();
}

function createEgress({ config, lifecycle }: Installation, lookup: AddressLookup, name: string): EgressClient {
  const egress = createEgressClient({ ...config.webhooks, lookup, clock: systemClock });
  lifecycle.onStop(name, () => egress.close());
  return egress;
}

/** A joining process shares its data directory with another, so it caches posts in memory only. */
function openPostCache({ config, logger, lifecycle, ownsDataDir }: Installation): DiskCache | undefined {
  if (!ownsDataDir) return undefined;
  const onProblem = (message: string, error?: unknown) => {
    logger.warn({ err: error }, message);
  };
  const folder = join(config.dataDir, 'cache', 'posts');
  const disk = new DiskCache({ folder, maxBytes: POST_CACHE_BYTES, clock: systemClock, onProblem });
  lifecycle.onStop('post cache', () => disk.close());
  return disk;
}

/** Items that a matcher has not committed yet: those of the slowest shard. */
async function matcherLag({ kafka, prefix, config }: Installation): Promise<number> {
  const topics = [FORUM_POSTS.name, FORUM_COMMENTS.name];
  const groups = matcherGroups(config.matcher.shards);
  const lags = groups.map(async (group) => lagOf(await groupPositions(kafka, { prefix, group, topics })));
  return Math.max(...(await Promise.all(lags)));
}

function clockTolerance({ config }: Installation): number {
  return config.embedded.kafka && config.embedded.postgres ? 0 : CLOCK_TOLERANCE_MS;
}

function watchLag(deps: Installation): Running {
  return startLagMonitor({ ...deps, subscriptions: subscriptionsOf(deps.config.matcher.shards) });
}

/** Each consumer group of an installation with this many groups of matchers, and the topics that it reads. */
function subscriptionsOf(matcherShards: number): Subscription[] {
  const topics = new Map<string, string[]>();
  for (const { name } of TOPICS) {
    for (const group of groupsOfTopic(name, matcherShards)) topics.set(group, [...(topics.get(group) ?? []), name]);
  }
  return [...topics].map(([group, names]) => ({ group, topics: names }));
}
