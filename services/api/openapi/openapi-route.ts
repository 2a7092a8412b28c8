import { weakEtag } from '../http/assets.ts';
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
  const bytes = Buffer.from(`${JSON.stringify(buildOpenApiDocument([...routes, route], baseUrl, appUrl))}\n`);
  const etag = weakEtag(bytes);
  return route;
}
