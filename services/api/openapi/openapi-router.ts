import { createHash } from 'node:crypto';
import { Router } from 'express';
import { methodNotAllowed } from '../http/route.ts';
import type { OpenApiDocument } from './openapi-shape.ts';

/**
 * GET /openapi.json: the document, for everybody. It changes with a deployment only, so clients may keep it for a
 * while.
 */
export function createOpenApiRouter(document: OpenApiDocument): Router {
  // Bytes, which all answers share: one that its client does not read holds no copy.
  const bytes = Buffer.from(JSON.stringify(document));
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  const router = Router();
  router.get('/openapi.json', (_request, response) => {
    response.set({ ETag: etag, 'Cache-Control': 'public, max-age=300' });
    // Answers 304 by itself when the client has this version.
    response.type('json').send(bytes);
  });
  router.all('/openapi.json', methodNotAllowed(['GET', 'HEAD']));
  return router;
}
