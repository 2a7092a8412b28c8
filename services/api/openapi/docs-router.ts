import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { Router } from 'express';
import type { PublicRoute, Route } from '../http/route.ts';
import { buildOpenApiDocument } from './build-openapi.ts';

/** Describes `routes` and itself. It changes only with a deployment, so clients may cache it for a while. */
export function openApiRoute(routes: readonly (Route | PublicRoute)[], baseUrl: string, appUrl: string): PublicRoute {
  const route: PublicRoute = {
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tag: 'Operations',
    summary: 'Get this document',
    description: 'The API as an OpenAPI 3.1 document. `/docs` shows it to people.',
    responses: [
      {
        status: 200,
        description: 'The document.',
        content: [
          { schema: { type: 'object', additionalProperties: true }, examples: { beginning: { openapi: '3.1.0' } } },
        ],
        headers: [{ name: 'ETag' }],
      },
      {
        status: 304,
        description: 'The document is unchanged since the version in `If-None-Match`.',
        content: [],
        headers: [{ name: 'ETag' }],
      },
    ],
    errors: ['invalid_request'],
    respond(_request, response) {
      response.set({ ETag: etag, 'Cache-Control': 'public, max-age=300' });
      // Express answers 304 when the client has this version.
      response.type('json').send(bytes);
    },
  };
  // All answers share these bytes: a client that does not read its answer costs no copy.
  const bytes = Buffer.from(JSON.stringify(buildOpenApiDocument([...routes, route], baseUrl, appUrl)));
  // Weak, because compressed and plain answers have the same.
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return route;
}

const require = createRequire(import.meta.url);
const MANIFEST = require.resolve('swagger-ui-dist/package.json');
const ASSETS_FOLDER = dirname(MANIFEST);
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;
/** The URLs of these files contain the version of the package. */
const ASSETS_FRESH_FOR = 'public, max-age=31536000, immutable';

/**
 * Everything comes from this origin. Only scripts set style attributes, which the policy does not cover, so no inline
 * style is allowed. Pictures in the style sheet are data URLs. "Try it out" sends its requests to this origin too.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * "Try it out" calls the server that this page came from, which may differ from the one in the document: the browser
 * would refuse another origin. Keys are not stored. Each request gets an Idempotency-Key of its own where the operation
 * reads one and the reader gave none: with the example of the document, the second request would be a repeat of the
 * first. crypto.randomUUID exists only on https pages and on localhost.
 */
const START = `const own = new URL('.', location.href).href.replace(/\\/$/, '');
const response = await fetch(own + '/openapi.json');
const spec = await response.json();
spec.servers = [{ url: own, description: 'This server' }];
const isKey = (parameter) => parameter.name === 'Idempotency-Key';
const keyed = Object.entries(spec.paths).filter(([, { post }]) => post?.parameters.some(isKey));
for (const [, { post }] of keyed) delete post.parameters.find(isKey).example;
const keyedPaths = keyed.map(([path]) => new RegExp('^' + path.replace(/{[^}]*}/g, '[^/]+') + '$'));
const freshKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
SwaggerUIBundle({
  spec,
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
  requestInterceptor(request) {
    const path = request.url.startsWith(own) ? request.url.slice(own.length).split('?')[0] : '';
    if (request.method.toUpperCase() === 'POST' && keyedPaths.some((pattern) => pattern.test(path))) {
      request.headers['Idempotency-Key'] ||= freshKey();
    }
    return request;
  },
});
`;

/**
 * GET /docs: the API's description for people, with "try it out". The page and everything it loads come from this
 * server, so no other site learns who reads it.
 */
export function createDocsRouter(): Router {
  const page = pageOf(packageVersion());
  // Strict routing: the page's links are relative to /docs and would break at /docs/.
  const router = Router({ strict: true });
  router.get('/docs/', (_request, response) => {
    response.redirect(301, '../docs');
  });
  router.get('/docs', (_request, response) => {
    response.set({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Cache-Control': 'no-cache' });
    response.type('html').send(page);
  });
  router.get('/docs/start.js', (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('text/javascript').send(START);
  });
  for (const name of ASSETS) {
    // All answers share these bytes in memory: a client that does not read its answer costs no copy and no open file.
    const bytes = readFileSync(join(ASSETS_FOLDER, name));
    router.get(`/docs/${name}`, (_request, response) => {
      response.set('Cache-Control', ASSETS_FRESH_FOR).type(extname(name)).send(bytes);
    });
  }
  return router;
}

function pageOf(version: string): string {
  const asset = (name: (typeof ASSETS)[number]) => `docs/${name}?v=${version}`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>API documentation</title>
    <link rel="stylesheet" href="${asset('swagger-ui.css')}" />
    <link rel="icon" type="image/png" href="${asset('favicon-32x32.png')}" />
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs JavaScript. The description itself is <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="${asset('swagger-ui-bundle.js')}"></script>
    <script type="module" src="docs/start.js"></script>
  </body>
</html>
`;
}

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };
  return manifest.version;
}
