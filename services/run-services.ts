import { join } from 'node:path';
import * as groups from '../schemas/messages/consumer-groups.ts';
import { FORUM_COMMENTS, FORUM_POSTS, FORUM_REMOVALS } from '../schemas/messages/topics.ts';
import { MONITOR_CANDIDATES, MONITOR_DELIVERIES, MONITOR_MATCHES } from '../schemas/messages/topics.ts';
import { DiskCache } from '../shared/cache/disk-cache.ts';
import { createSecretBox } from '../shared/domain/secret-box.ts';
import { createDnsLookup, createSystemLookup } from '../shared/http/address-lookup.ts';
import { createEgressClient } from '../shared/http/egress-client.ts';
import { startLagMonitor } from '../shared/kafka/lag-monitor.ts';
import { createPublisher } from '../shared/kafka/publisher.ts';
import { consumerLag } from '../shared/kafka/topic-admin.ts';
import { createPool, REQUEST_LIMITS } from '../shared/postgres/pool.ts';
import { createMailer } from '../shared/mail/create-mailer.ts';
import { createMailDomainCheck } from '../shared/mail/mail-domain.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { startOperationsServer } from '../shared/runtime/operations-server.ts';
import { exchangeReports } from '../shared/stores/crawl/budget-reports.ts';
import { startBudgetExchange } from '../shared/upstream/budget/budget-exchange.ts';
import { createUpstream } from '../shared/upstream/upstream-client.ts';
import type { Upstream } from '../shared/upstream/upstream-client.ts';
import { ensureDemoAccount } from './api/demo-account.ts';
import { startMatchWakeUps } from './api/live-tail/match-wake-ups.ts';
import { startApi } from './api/start-api.ts';
import { startArchiver } from './archiver/start-archiver.ts';
import { startBiller } from './biller/start-biller.ts';
import { connectEngines } from './connect-engines.ts';
import type { Installation, ProcessDeps } from './connect-engines.ts';
import { startCrawler } from './crawler/start-crawler.ts';
import { startDeliverer } from './deliverer/start-deliverer.ts';
import { startMatcher } from './matcher/start-matcher.ts';
import { Readiness } from './readiness.ts';
import { startRecorder } from './recorder/start-recorder.ts';

export const SERVICES = ['api', 'archiver', 'biller', 'crawler', 'deliverer', 'matcher', 'recorder'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** @throws Error that names the services there are, when one is unknown. */
export function chooseServices(names: readonly string[]): ServiceName[] {
  const unknown = names.filter((name) => !SERVICES.some((service) => service === name));
  if (unknown.length > 0) throw new Error(`Unknown service ${unknown.join(', ')}. There are: ${SERVICES.join(', ')}.`);
  return names.length === 0 ? [...SERVICES] : SERVICES.filter((service) => names.includes(service));
}

const API_CONNECTIONS = 20;

/** Some 20,000 threads. */
const POST_DISK_BYTES = 512 * 1024 * 1024;

/** How far clocks may differ from the broker's where they are not on one machine, in milliseconds. */
const CLOCK_TOLERANCE_MS = 500;

/** Tells where the services answer, once they do; /readyz says yes afterwards. */
type Announce = (addresses: { api: string; metrics: string }) => Promise<void>;

/**
 * Starts services in this process, each part registered to be stopped in reverse order. Resolves when all of them are
 * ready.
 */
export async function runServices(
  parts: ProcessDeps & { services: readonly ServiceName[]; announce: Announce },
): Promise<{ api: string; metrics: string }> {
  const { config, lifecycle, services } = parts;
  const connected = await connectEngines(parts);
  const { metrics } = connected;
  // Several processes on one machine: the first takes the known port, a joining one a free port that it logs.
  const operations = lifecycle.add('metrics', await startOperationsServer(metrics, config.http.metricsPort ?? 0));
  parts.logger.info({ services, metrics: operations.url }, 'starting');
  const installation = { ...connected, upstream: await connectUpstream(connected, services) };
  const readiness = new Readiness(installation);
  let api = '';
  for (const service of STARTERS) {
    if (!services.includes(service.name)) continue;
    const running = lifecycle.add(service.name, await service.start(installation, readiness));
    if ('ready' in running) readiness.add(service.name, () => running.ready());
    if ('port' in running) api = `http://${config.http.host}:${running.port}`;
  }
  lifecycle.add('lag', watchLag(installation));
  await readiness.untilReady(parts.signal);
  const addresses = { api, metrics: operations.url };
  if (!parts.signal.aborted) await parts.announce(addresses);
  readiness.announced();
  return addresses;
}

/** What every service is started with: the engines, and the forum, whose budget all services of a process share. */
type ServiceDeps = Installation & { upstream: Upstream };

type Started = { stop(): Promise<void> } & ({ ready(): boolean } | { port: number } | object);

/** In the order of the flow, downstream first: what an item meets next is there before the item. */
const STARTERS: { name: ServiceName; start: (at: ServiceDeps, readiness: Readiness) => Promise<Started> | Started }[] =
  [
    { name: 'api', start: startTheApi },
    { name: 'biller', start: (at) => startBiller(at) },
    { name: 'archiver', start: startTheArchiver },
    { name: 'deliverer', start: startTheDeliverer },
    { name: 'recorder', start: (at) => startRecorder({ ...at, ...at.config.recorder, toleranceMs: toleranceOf(at) }) },
    {
      name: 'matcher',
      start: async (at) => startMatcher({ ...at, publisher: await publisherOf(at), toleranceMs: toleranceOf(at) }),
    },
    { name: 'crawler', start: startTheCrawler },
  ];

async function startTheApi(at: ServiceDeps, readiness: Readiness): Promise<Started> {
  const { config, logger } = at;
  if (config.embedded.postgres) await ensureDemoAccount(at.pool, { dataDir: config.dataDir });
  // Of its own: requests give up sooner than other work, which must not keep connections from them.
  const pool = createPool({
    url: at.postgresUrl,
    name: 'forum-monitor api',
    logger,
    max: API_CONNECTIONS,
    limits: REQUEST_LIMITS,
  });
  at.lifecycle.onStop('postgres of the api', () => pool.end());
  const { allowPrivate } = config.webhooks;
  const lookup = allowPrivate ? createSystemLookup() : createDnsLookup();
  const egress = createEgressClient({ ...config.webhooks, lookup, clock: systemClock });
  at.lifecycle.onStop('test deliveries', () => egress.close());
  return startApi({
    ...at,
    pool,
    ...secrets(at),
    http: config.http,
    webhooks: { allowPrivate, lookup },
    suppressedPerDay: config.recorder.suppressedPerDay,
    egress,
    signup: config.signup,
    mailer: createMailer({ ...config.mail, outbox: join(config.dataDir, 'outbox') }),
    takesMail: config.signup.dnsCheck ? createMailDomainCheck() : undefined,
    forum: { upstream: at.upstream, siteUrl: config.upstream.siteUrl, clock: systemClock, disk: await openDisk(at) },
    ready: () => readiness.answer(),
    liveTail: { wakeUps: at.lifecycle.add('live tail', startMatchWakeUps(at)) },
  });
}

/** It writes to tables that ClickHouse's schema must have first; everything else starts without it. */
async function startTheArchiver(at: ServiceDeps): Promise<Started> {
  const publisher = await publisherOf(at);
  let archiver: Awaited<ReturnType<typeof startArchiver>> | undefined;
  const starting = at.archiveSchema.ready.then(async (isReady) => {
    if (isReady && !at.signal.aborted) archiver = await startArchiver({ ...at, publisher });
  });
  starting.catch(at.fatal);
  await Promise.race([starting, at.archiveSchema.tried]);
  // Tried and migrated: it joins its groups before the process is called ready.
  return {
    ready: () => archiver?.ready() ?? false,
    async stop() {
      await starting;
      await archiver?.stop();
    },
  };
}

function startTheDeliverer(at: ServiceDeps): Promise<Started> {
  const { webhooks, deliverer } = at.config;
  return startDeliverer({ ...at, ...secrets(at), webhooks, limits: { total: deliverer.attemptsAtOnce } });
}

async function openDisk({ config, logger, lifecycle, ownsDataDir }: Installation): Promise<DiskCache | undefined> {
  if (!ownsDataDir) return undefined;
  const onProblem = (message: string, error?: unknown) => {
    logger.warn({ err: error }, message);
  };
  const folder = join(config.dataDir, 'cache', 'posts');
  const disk = await DiskCache.open({ folder, maxBytes: POST_DISK_BYTES, clock: systemClock, onProblem });
  lifecycle.onStop('post cache', () => disk.close());
  return disk;
}

async function startTheCrawler(at: ServiceDeps): Promise<Started> {
  const { config } = at;
  const publisher = await publisherOf(at);
  const { siteUrl } = config.upstream;
  const replayLag = { read: () => matcherLag(at), most: config.replayMostLag };
  return startCrawler({ ...at, publisher, sources: config.crawlSources, siteUrl, replayLag, clock: systemClock });
}

/** Records of items that the matcher has not committed yet. */
async function matcherLag({ kafka, prefix }: Installation): Promise<number> {
  const topics = [FORUM_POSTS.name, FORUM_COMMENTS.name];
  const lags = await consumerLag(kafka, { prefix, group: groups.MATCHER_GROUP, topics });
  return lags.reduce((sum, { lag }) => sum + lag, 0);
}

/** Services that call the forum. */
const CALLERS: readonly ServiceName[] = ['api', 'crawler'];

async function connectUpstream(at: Installation, services: readonly ServiceName[]): Promise<Upstream> {
  const { metrics, logger, lifecycle } = at;
  const { clients = [], url, tokenUrl, userAgent, shares } = at.config.upstream;
  const upstream = createUpstream({ url, tokenUrl, userAgent, clients, shares, clock: systemClock, metrics, logger });
  lifecycle.onStop('upstream', () => upstream.stop());
  if (services.some((service) => CALLERS.includes(service))) {
    // A connection of its own: what is said of the budget must not wait for a pool that is used up.
    const db = createPool({ url: at.postgresUrl, name: 'forum-monitor-budget', logger, max: 1 });
    lifecycle.onStop('budget connection', () => db.end());
    const exchange = startBudgetExchange({
      budget: upstream.budget,
      exchange: (own) => exchangeReports(db, own),
      clock: systemClock,
      logger,
    });
    lifecycle.add('budget', await exchange);
  }
  return upstream;
}

async function publisherOf(at: Installation): ReturnType<typeof createPublisher> {
  return at.lifecycle.add('publisher', await createPublisher(at));
}

function secrets({ secretKey }: Installation): { secretBox: ReturnType<typeof createSecretBox> } {
  return { secretBox: createSecretBox(secretKey) };
}

function toleranceOf({ config }: Installation): number {
  return config.embedded.kafka && config.embedded.postgres ? 0 : CLOCK_TOLERANCE_MS;
}

function watchLag(at: Installation): ReturnType<typeof startLagMonitor> {
  return startLagMonitor({
    ...at,
    subscriptions: [
      { group: groups.MATCHER_GROUP, topics: [FORUM_POSTS.name, FORUM_COMMENTS.name] },
      { group: groups.ITEMS_ARCHIVER_GROUP, topics: [FORUM_POSTS.name, FORUM_COMMENTS.name] },
      { group: groups.REMOVALS_ARCHIVER_GROUP, topics: [FORUM_REMOVALS.name] },
      { group: groups.RECORDER_GROUP, topics: [MONITOR_CANDIDATES.name] },
      { group: groups.MATCHES_ARCHIVER_GROUP, topics: [MONITOR_MATCHES.name] },
      { group: groups.DELIVERER_GROUP, topics: [MONITOR_MATCHES.name] },
      { group: groups.DELIVERIES_ARCHIVER_GROUP, topics: [MONITOR_DELIVERIES.name] },
    ],
  });
}
