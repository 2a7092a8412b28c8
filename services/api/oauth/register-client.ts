import { json, Router } from 'express';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { ClientMetadata } from 'oidc-provider';
import { z } from 'zod';
import { newOAuthSecret } from '../../../shared/domain/accounts/oauth-secret.ts';
import { toApiError } from '../http/error-handler.ts';
import { validationMessage } from '../http/invalid-request.ts';
import { methodNotAllowed } from '../http/route.ts';
import { REGISTRATION } from './oauth-metadata.ts';
import type { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';

/** How long a client that nobody has authorised, or its document, is kept. */
export const UNUSED_CLIENT_SECONDS = 24 * 3_600;
const MAX_REDIRECTS = 10;
const MAX_URI_LENGTH = 2_048;
const MAX_NAME_LENGTH = 100;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Of a program, as RFC 8252 (7.1) asks for: a domain of its maker, such as `com.example.app`. */
const PROGRAM_SCHEME = /^[a-z][a-z\d-]*(?:\.[a-z\d-]+)+:$/;
/** Of widespread programs that do not follow it. */
const KNOWN_PROGRAMS = new Set(['cursor:', 'vscode:', 'vscode-insiders:']);
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const redirectUri = z
  .string()
  .max(MAX_URI_LENGTH)
  .refine(
    isRedirectUri,
    'must be https, http on this machine (localhost), or a scheme of a program with a dot; without a fragment',
  );

const orNull = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** The metadata of RFC 7591 that this server uses; the other members are ignored, and null counts as absent. */
export const clientMetadata = z.object({
  redirect_uris: z.array(redirectUri).min(1).max(MAX_REDIRECTS),
  client_name: orNull(z.string().max(1_000)),
  grant_types: orNull(z.array(z.string()).max(20)),
  response_types: orNull(z.array(z.string()).max(20)),
  token_endpoint_auth_method: orNull(z.string()),
});

type GivenMetadata = z.output<typeof clientMetadata>;

/** Why the client cannot be used here; undefined when it can. */
export function metadataFault({ grant_types, response_types }: GivenMetadata): string | undefined {
  if (grant_types !== undefined && !grant_types.includes('authorization_code')) {
    return 'grant_types: must name authorization_code';
  }
  if (response_types !== undefined && !response_types.includes('code')) return 'response_types: must name code';
  return undefined;
}

/**
 * A client in the form the provider expects. A redirect to this machine or to a program makes it a native client. For a
 * redirect to this machine any port matches (RFC 8252), since programs use a free port each time.
 */
export function clientOf(
  id: string,
  given: GivenMetadata,
  authentication: { method: 'none' | 'client_secret_basic' | 'client_secret_post'; secret?: string },
): ClientMetadata {
  const isNative = given.redirect_uris.some((uri) => new URL(uri).protocol !== 'https:');
  const name = given.client_name?.replace(CONTROLS, ' ').trim().slice(0, MAX_NAME_LENGTH);
  return {
    client_id: id,
    ...(name ? { client_name: name } : {}),
    redirect_uris: given.redirect_uris,
    application_type: isNative ? 'native' : 'web',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authentication.method,
    ...(authentication.secret === undefined ? {} : { client_secret: authentication.secret }),
  };
}

function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || text.includes('#')) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:') return !LOOPBACK.has(hostname);
  if (protocol === 'http:') return LOOPBACK.has(hostname);
  return PROGRAM_SCHEME.test(protocol) || KNOWN_PROGRAMS.has(protocol);
}

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
