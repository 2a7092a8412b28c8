import { createHash } from 'node:crypto';
import { Router } from 'express';
import { refuseParameters } from '../http/invalid-request.ts';
import { methodNotAllowed } from '../http/route.ts';
import type { OpenApiDocument } from './openapi-shape.ts';

/**
 * GET /openapi.json: the document, without a key. It changes only with a deployment, so clients may cache it for a
 * while.
 */
export function createOpenApiRouter(document: OpenApiDocument): Router {
  // All answers share these bytes: a client that does not read its answer costs no copy.
  const bytes = Buffer.from(JSON.stringify(document));
  // Weak, because compressed and plain answers have the same.
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url')}"`;
  const router = Router();
  router.get('/openapi.json', refuseParameters, (_request, response) => {
    response.set({ ETag: etag, 'Cache-Control': 'public, max-age=300' });
    // Express answers 304 when the client has this version.
    response.type('json').send(bytes);
  });
  router.all('/openapi.json', methodNotAllowed(['GET', 'HEAD']));
  return router;
}
