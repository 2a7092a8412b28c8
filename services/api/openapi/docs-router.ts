import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { Router } from 'express';

const require = createRequire(import.meta.url);
const MANIFEST = require.resolve('swagger-ui-dist/package.json');
const ASSETS_FOLDER = dirname(MANIFEST);
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;
/** Their URLs carry the version of the package. */
const ASSETS_FRESH_FOR = 'public, max-age=31536000, immutable';

/**
 * Everything comes from this origin. Only style attributes are set by scripts, which a policy does not cover, so no
 * inline style is allowed; pictures in the style sheet are data URLs. Requests of "try it out" go to this origin too.
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
 * "Try it out" talks to the server that this page came from, which need not be the one that the document names: another
 * origin would be refused by the browser. Keys are not kept.
 */
const START = `const own = new URL('.', location.href).href.replace(/\\/$/, '');
const response = await fetch(own + '/openapi.json');
const spec = await response.json();
spec.servers = [{ url: own, description: 'This server' }];
SwaggerUIBundle({
  spec,
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
});
`;

/**
 * GET /docs: the API's description for people, with "try it out". The page and all it loads come from here; no other
 * site learns that somebody reads it.
 */
export function createDocsRouter(): Router {
  const page = pageOf(packageVersion());
  // Strict: the page's links are relative to /docs, and would lead elsewhere from /docs/.
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
    // In memory, where all answers share them: one that its client does not read holds no copy and no open file.
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
