import { constants } from 'node:zlib';
import compression from 'compression';
import express from 'express';
import type { Express, RequestHandler } from 'express';
import helmet from 'helmet';
import type { Stripe } from 'stripe';
import { createMailboxHash } from '../../shared/accounts/rules/mailbox.ts';
import type { EgressClient } from '../../shared/http/egress-client.ts';
import type { PaymentSettings } from '../../shared/billing/stripe.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { forumHosts } from '../../shared/rules/forum-reference.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Tracing } from '../../shared/runtime/tracing.ts';
import { accountRoutes, withBillingAddress } from './account/account-routes.ts';
import { AdmissionControl } from './admission/admission-control.ts';
import type { LimitsByPack } from './admission/admission-control.ts';
import { createAdmissionMiddleware } from './admission/admission-middleware.ts';
import { createStripeWebhookRouter } from './billing/stripe-webhook-router.ts';
import { coverageRoute } from './coverage/coverage-route.ts';
import { createStatusReporter, healthRoutes, statusRoute } from './coverage/status-routes.ts';
import type { Readiness, StatusReporter } from './coverage/status-routes.ts';
import { createDashboard } from './dashboard/dashboard.ts';
import { webhookRoutes } from './deliveries/webhook-routes.ts';
import { createDocsRouter } from './docs/docs-router.ts';
import { ApiError, createErrorHandler, refuseProtocolErrors } from './http/api-error.ts';
import { ReadingCharges } from './http/request-charges.ts';
import { createRequestLog, createRequestTracing, routePattern } from './http/request-log.ts';
import { createRouter } from './http/route.ts';
import type { PublicRoute, Route } from './http/route.ts';
import { exportRoute } from './matches/export-route.ts';
import type { ExportTiming } from './matches/export-route.ts';
import { feedRoutes, feedTokenRoutes } from './matches/feed-routes.ts';
import { liveTailRoute } from './matches/live-tail-route.ts';
import type { LiveTails } from './matches/live-tails.ts';
import { createMcpRouter } from './mcp/mcp-router.ts';
import { createTools } from './mcp/tool-server.ts';
import { createArchiveSample, createStreamWords } from './monitors/archive-samples.ts';
import { explainRoutes } from './monitors/explain-routes.ts';
import type { MonitorDeps } from './monitors/find-monitor.ts';
import { monitorRoutes } from './monitors/monitor-routes.ts';
import { previewRoutes } from './monitors/preview-routes.ts';
import { trendRoutes } from './monitors/trend-routes.ts';
import { protectionOf } from './oauth/oauth-metadata.ts';
import { createOAuthRouter } from './oauth/oauth-router.ts';
import { buildOpenApiDocument } from './openapi/build-openapi.ts';
import { openApiRoute } from './openapi/openapi-route.ts';
import { AccountCalls } from './reading/account-calls.ts';
import type { DiskCache } from './reading/cached-reads.ts';
import { ForumSource } from './reading/forum-source.ts';
import type { ForumSourceDeps } from './reading/forum-source.ts';
import { itemRoutes } from './reading/item-routes.ts';
import { createListingCache, listingRoutes } from './reading/listing-routes.ts';
import { PostReader } from './reading/post-reader.ts';
import { postRoute } from './reading/post-route.ts';
import type { ReadingDeps } from './reading/reading-route.ts';
import { RenderedPosts } from './reading/rendered-posts.ts';
import { ShareLinks } from './reading/resolve-reference.ts';
import { searchRoutes } from './reading/search-routes.ts';
import { createSignupPages, signupRoutes } from './signup/signup-routes.ts';
import type { SignupDeps } from './signup/signup-routes.ts';
import { sqlRoute } from './sql/sql-route.ts';

export interface ApiAppDeps extends Omit<MonitorDeps, 'archiveSample' | 'siteUrl'>, SignupDeps {
  /** Sends test deliveries. */
  egress: EgressClient;
  metrics: Metrics;
  /** Default: requests are not traced. */
  tracing?: Tracing | undefined;
  /** The address that the server is bound to. */
  host: string;
  /** In Express's own syntax; undefined: the peer is the client. */
  trustProxy: string | undefined;
  ready: () => Promise<Readiness>;
  forum: ForumReadingDeps;
  clickhouse: ClickHouseClient;
  liveTails: LiveTails;
  /** Holds the rows of statements of POST /v1/sql while they run. */
  sqlFolder: string;
  /** Records that wait, by consumer group; for GET /status. */
  consumerLag: () => Promise<Record<string, number>>;
  /** Default: packs cannot be bought. */
  payments?: { stripe: Stripe; settings: PaymentSettings; clock: Clock } | undefined;
  /** Overrides how long exports may take; for tests. */
  exportTiming?: ExportTiming;
  /** Overrides the request limits of the plans; for tests. */
  limits?: LimitsByPack;
}

/** Builds the whole HTTP application; `startApi` listens. */
export function createApiApp(options: ApiAppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  // Responses are built from Postgres on each request, so hashing their bodies would save no work.
  app.disable('etag');
  // A shell's prompt begins on a line of its own.
  app.response.json = function json(body: unknown) {
    if (!this.hasHeader('Content-Type')) this.type('json');
    return this.send(`${JSON.stringify(body)}\n`);
  };
  if (options.trustProxy !== undefined) app.set('trust proxy', trustProxySetting(options.trustProxy));

  if (options.tracing) app.use(createRequestTracing(options.tracing));
  app.use(createRequestLog(options.logger), measure(options.metrics), helmet(), compressResponses());
  app.use(refuseProtocolErrors);

  const admissionControl = new AdmissionControl(options.pool, options.limits);
  const reading = createReadingDeps(options);
  const routes = createApiRoutes(options, reading);
  const admission = createAdmissionMiddleware(admissionControl, routes, options.logger);
  app.use(admission.admit);
  const status = createStatusReporter({ ...options, clock: systemClock });
  app.use(createSignupPages(options));
  const described = [...routes, ...createPublicRoutes(options, routes, status)];
  app.use(createRouter(described, admission.callerOf));
  const { baseUrl, appUrl, dashboardUrl } = options;
  const describe = () => buildOpenApiDocument(described, baseUrl, appUrl);
  app.use(createDocsRouter({ baseUrl, dashboardUrl, describe }));
  const { payments } = options;
  // Before everything that parses bodies: a signature covers the bytes.
  app.use(
    createStripeWebhookRouter({ ...options, payments: payments?.settings, clock: payments?.clock ?? systemClock }),
  );
  app.use(createOAuthRouter(options));
  app.use(createDashboard({ ...options, status, clock: systemClock, routes }));

  const publicUrls = [options.baseUrl, options.appUrl];
  const protection = protectionOf(options.baseUrl);
  app.use(
    createMcpRouter({ ...options, admissionControl, publicUrls, protection, tools: createTools(reading, routes) }),
  );
  app.use((request) => {
    throw new ApiError('not_found', `There is no route ${request.method} ${request.path.slice(0, 200)}.`);
  });
  app.use('/v1', admission.returnDailySlot);
  app.use(createErrorHandler(options.logger, baseUrl));
  return app;
}

/** All routes of /v1. The API's description, the tools of the MCP server and the permissions are made from them. */
export function createApiRoutes(options: ApiAppDeps, reading: ReadingDeps): Route[] {
  const monitorDeps: MonitorDeps = {
    ...options,
    siteUrl: options.forum.siteUrl,
    archiveSample: createArchiveSample(options.clickhouse, options.logger),
  };
  const routes = [
    ...readingRoutes(reading),
    ...monitorRoutes(monitorDeps),
    ...explainRoutes({ ...options, clock: systemClock, siteUrl: options.forum.siteUrl }),
    ...previewRoutes({
      ...monitorDeps,
      clickhouse: options.clickhouse,
      clock: systemClock,
      logger: options.logger,
      baseUrl: options.baseUrl,
      metrics: options.metrics,
      streamWords: createStreamWords(options.clickhouse),
    }),
    ...trendRoutes({ ...options, clock: systemClock }),
    ...feedTokenRoutes(options),
    exportRoute(options),
    liveTailRoute(options.pool, options.liveTails),
    ...webhookRoutes({ ...options, clock: systemClock, siteUrl: options.forum.siteUrl }),
    sqlRoute(options),
    coverageRoute({ pool: options.pool, clock: systemClock }),
    ...accountRoutes({ ...options, clock: systemClock, mailboxHash: createMailboxHash(options.secretKey) }),
  ];
  return withBillingAddress(routes, options.dashboardUrl);
}

/** All documented routes that need no key. */
export function createPublicRoutes(
  options: ApiAppDeps,
  routes: readonly Route[],
  status: StatusReporter,
): PublicRoute[] {
  const described = [
    ...signupRoutes(options),
    ...feedRoutes(options),
    ...healthRoutes(options.ready, options.logger),
    statusRoute(status),
  ];
  return [...described, openApiRoute([...routes, ...described], options.baseUrl, options.appUrl)];
}

/** Pages are left out: their size could reveal a secret beside reflected input (BREACH). */
const COMPRESSIBLE =
  /^(?:application\/(?:(?:feed\+)?json|atom\+xml)|text\/(?:css|csv|javascript|markdown|plain))(?:;|$)/;

/** At the lowest levels, about a millisecond for 100 KB of JSON. Streams have no length, and stay as they are. */
function compressResponses(): RequestHandler {
  return compression({
    threshold: 1_024,
    level: 1,
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
    filter: (_request, response) =>
      response.hasHeader('Content-Length') && COMPRESSIBLE.test(String(response.getHeader('Content-Type'))),
  });
}

function measure(metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    const begun = performance.now();
    metrics.httpOpen.inc();
    response.once('close', () => {
      metrics.httpOpen.dec();
      const route = routePattern(request);
      metrics.httpRequests.inc({ method: request.method, route, status: String(response.statusCode) });
      metrics.httpSeconds.observe({ method: request.method, route }, (performance.now() - begun) / 1000);
    });
    next();
  };
}

function trustProxySetting(text: string): boolean | number | string {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}

export interface ForumReadingDeps extends Omit<ForumSourceDeps, 'logger' | 'metrics'> {
  /** Cache that outlives the process; undefined: posts are cached in memory only. */
  disk: DiskCache | undefined;
}

const POST_MEMORY_BYTES = 64 * 1024 * 1024;
const RENDERED_MEMORY_BYTES = 32 * 1024 * 1024;
const LISTING_MEMORY_BYTES = 32 * 1024 * 1024;

export interface ReadingRouteDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  forum: ForumReadingDeps;
  logger: Logger;
  metrics: Pick<Metrics, 'cacheBytes' | 'readingMalformed'>;
}

export function createReadingDeps({ pool, clickhouse, forum, logger, metrics }: ReadingRouteDeps): ReadingDeps {
  const source = new ForumSource({ ...forum, logger, metrics });
  const { clock, disk } = forum;
  const hosts = forumHosts(forum.siteUrl);
  const cache = (name: string, memoryBytes: number) => ({
    memoryBytes,
    onBytes: (bytes: number): void => metrics.cacheBytes.set({ cache: name }, bytes),
  });
  return {
    charges: new ReadingCharges(pool, logger),
    source,
    hosts,
    shareLinks: new ShareLinks({ hosts, clock }),
    listings: createListingCache({ clock, ...cache('listings', LISTING_MEMORY_BYTES) }),
    posts: new PostReader({ clock, ...cache('posts', POST_MEMORY_BYTES), disk, logger }),
    rendered: new RenderedPosts(cache('rendered', RENDERED_MEMORY_BYTES)),
    archive: { clickhouse, source, clock },
    accountCalls: new AccountCalls({ forum: forum.upstream, clock }),
  };
}

export function readingRoutes(deps: ReadingDeps): Route[] {
  return [postRoute(deps), ...itemRoutes(deps), ...listingRoutes(deps), ...searchRoutes(deps)];
}
