import { expect, test } from 'vitest';
import { createApiApp } from '../../../../../services/api/api-app.ts';
import { buildOpenApiDocument } from '../../../../../services/api/openapi/build-openapi.ts';
import { describedRoutes, idleApiDeps } from '../../../../support/fixtures/idle-api.ts';

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
  /^get \/(docs(\/|\.md|,|$)|llms)|^(get|post) \/api\/agent\/(recover\/)?link$|^get \/$|^(get|post) \/dashboard(\/|$)/;
/** Stripe's own format. */
const FOR_STRIPE = /^post \/stripe\/webhook$/;
/** The tool server, which describes itself, and the discovery documents of its clients. */
const FOR_AGENTS = /^\w+ \/(mcp$|(oauth|\.well-known)\/)/;

test('every route is documented, and every documented route exists', () => {
  const { stack } = createApiApp(idleApiDeps()).router as unknown as { stack: Layer[] };
  const served = routesOf(stack)
    .filter((route) => ![FOR_BROWSERS, FOR_AGENTS, FOR_STRIPE].some((pattern) => pattern.test(route)))
    .map((route) => route.replace(/:(\w+)/g, '{$1}'));
  expect(served.length).toBeGreaterThan(20);
  const documented = Object.entries(buildOpenApiDocument(describedRoutes(), 'https://api.example.com').paths).flatMap(
    ([path, item]) => Object.keys(item).map((method) => `${method} ${path}`),
  );
  expect(documented.sort()).toEqual(served.sort());
});
