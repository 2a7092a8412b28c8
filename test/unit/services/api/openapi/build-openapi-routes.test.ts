import { expect, test } from 'vitest';
import type { Express } from 'express';
import { createApiApp } from '../../../../../services/api/api-app.ts';
import { LiveTails } from '../../../../../services/api/live-tail/live-tails.ts';
import { buildOpenApiDocument } from '../../../../../services/api/openapi/build-openapi.ts';
import { createClickhouse } from '../../../../../shared/clickhouse/clickhouse-client.ts';
import { createSecretBox } from '../../../../../shared/domain/secret-box.ts';
import { createPool } from '../../../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

/** An application that gets no requests, so its collaborators are missing. */
function idleApp(): Express {
  const logger = silentLogger();
  const away = () => Promise.reject(new Error('not in this test'));
  const metrics = createMetrics();
  const pool = createPool({ url: 'postgres://127.0.0.1:9/none', name: 'none', logger });
  return createApiApp({
    logger,
    metrics,
    pool,
    liveTails: new LiveTails({ pool, logger, metrics }),
    clickhouse: createClickhouse('http://127.0.0.1:9', 'none'),
    secretBox: createSecretBox('a secret key for tests, 32 characters'),
    webhooks: { allowPrivate: false, lookup: away },
    suppressedPerDay: 0,
    host: '127.0.0.1',
    trustProxy: undefined,
    secretKey: 'a secret key for tests, 32 characters',
    baseUrl: 'https://api.example.com',
    appUrl: 'https://app.example.com',
    dashboardUrl: 'https://app.example.com',
    mailer: { send: away },
    signup: { enabled: true, perHour: 1, signInPerHour: 1, perNetwork: 1 },
    acceptsMail: undefined,
    egress: { send: away, close: away },
    ready: away,
    consumerLag: away,
    sqlFolder: '',
    forum: {
      upstream: { get: away, post: away },
      siteUrl: 'https://www.example.com',
      clock: () => 0,
      disk: undefined,
    },
  });
}

interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  handle: { stack?: Layer[] };
}

/** `get /v1/…` of every route, including nested routers; `all` marks the refusal of other methods. */
function routesOf(layers: readonly Layer[]): string[] {
  return layers.flatMap(({ route, handle }) =>
    route === undefined
      ? routesOf(handle.stack ?? [])
      : Object.keys(route.methods)
          .filter((method) => method !== '_all')
          .map((method) => `${method} ${route.path}`),
  );
}

/** Pages and files for people, the dashboard, and the pages of links in mails. */
const FOR_BROWSERS =
  /^get \/docs(\/|$)|^(get|post) \/api\/agent\/(recover\/)?link$|^get \/$|^(get|post) \/dashboard(\/|$)/;
/** Stripe's own format. */
const FOR_STRIPE = /^post \/stripe\/webhook$/;
/** The tool server, which describes itself, and the discovery documents of its clients. */
const FOR_AGENTS = /^\w+ \/(mcp$|(oauth|\.well-known)\/)/;

test('every route is documented, and every documented route exists', () => {
  const { stack } = idleApp().router as unknown as { stack: Layer[] };
  const served = routesOf(stack)
    .filter((route) => ![FOR_BROWSERS, FOR_AGENTS, FOR_STRIPE].some((pattern) => pattern.test(route)))
    .map((route) => route.replace(/:(\w+)/g, '{$1}'));
  expect(served.length).toBeGreaterThan(20);
  const documented = Object.entries(buildOpenApiDocument('https://api.example.com').paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  );
  expect(documented.sort()).toEqual(served.sort());
});
