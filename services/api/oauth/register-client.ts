import { json, Router } from 'express';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { newOAuthSecret } from '../../../shared/domain/accounts/oauth-secret.ts';
import { toApiError } from '../http/error-handler.ts';
import { validationMessage } from '../http/validation-message.ts';
import { methodNotAllowed } from '../http/route.ts';
import { clientMetadata, clientOf, metadataFault, UNUSED_CLIENT_SECONDS } from './client-metadata.ts';
import { REGISTRATION } from './oauth-metadata.ts';
import type { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';

const BODY_LIMIT = 16 * 1024;
const METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;

/**
 * POST /oauth/register (RFC 7591), for clients without a metadata document. A client cannot be changed; it registers a
 * new one instead.
 */
export function createRegistrationRouter(records: SealedRecords, limit: RequestHandler): Router {
  const router = Router();
  router.post(REGISTRATION, openToPages, limit, json({ limit: BODY_LIMIT }), async (request, response) => {
    await register(records, request.body, response);
  });
  router.options(REGISTRATION, openToPages, (_request, response) => {
    response.set({ 'Access-Control-Allow-Methods': 'POST', 'Access-Control-Allow-Headers': 'Content-Type' });
    response.status(204).end();
  });
  router.all(REGISTRATION, methodNotAllowed(['POST', 'OPTIONS']));
  router.use(REGISTRATION, refuseBody);
  return router;
}

const openToPages: RequestHandler = (_request, response, next) => {
  response.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' });
  next();
};

async function register(records: SealedRecords, body: unknown, response: Response): Promise<void> {
  const parsed = clientMetadata.safeParse(body ?? {}, { error: validationMessage });
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const error = path[0] === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    refuse(response, error, `${path.join('.') || 'body'}: ${message}`);
    return;
  }
  const method = METHODS.find((name) => name === (parsed.data.token_endpoint_auth_method ?? 'client_secret_basic'));
  const fault = method ? metadataFault(parsed.data) : `token_endpoint_auth_method: must be ${METHODS.join(' or ')}`;
  if (method === undefined || fault !== undefined) {
    refuse(response, 'invalid_client_metadata', fault ?? '');
    return;
  }
  const id = newOAuthSecret('client');
  const secret = method === 'none' ? {} : { secret: newOAuthSecret('client secret') };
  const client = clientOf(id, parsed.data, { method, ...secret });
  await records.put({ model: 'Client', id, payload: { ...client }, validSeconds: UNUSED_CLIENT_SECONDS });
  response.status(201).json({
    ...client,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    ...(method === 'none' ? {} : { client_secret_expires_at: 0 }),
  });
}

function refuse(response: Response, error: string, error_description: string): void {
  response.status(400).json({ error, error_description });
}

/** Answers a body that cannot be read. */
const refuseBody: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  const refusal = toApiError(error);
  if (refusal === undefined || refusal.status >= 500 || refusal.code === 'method_not_allowed') {
    next(error);
    return;
  }
  response.status(refusal.status).json({ error: 'invalid_client_metadata', error_description: refusal.message });
};
