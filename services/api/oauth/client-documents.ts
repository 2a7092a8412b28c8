import { json, Router } from 'express';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { errors } from 'oidc-provider';
import type { ClientMetadata } from 'oidc-provider';
import { z } from 'zod';
import { newOAuthSecret } from '../../../shared/accounts/rules/credentials.ts';
import type { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import type { EgressClient } from '../../../shared/http/egress-client.ts';
import { urlRefusal } from '../../../shared/http/public-address.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { toApiError, validationMessage } from '../http/api-error.ts';
import { methodNotAllowed } from '../http/route.ts';
import { takeForNetworks } from './oauth-limits.ts';
import { REGISTRATION } from './oauth-metadata.ts';

export type FindDocument = ReturnType<typeof createFindDocument>;

const DEADLINE_MS = 8_000;
const FRESH_SECONDS = 3_600;
/** Per hour, for a /24 or a /64 and in total. Cached documents do not count. */
const FETCHES_PER_NETWORK = 30;
const FETCHES = { name: 'oauth:documents:total', maxUses: 1_000, seconds: 3_600 };
const MAX_ID_LENGTH = 500;

export function isDocumentId(id: string): boolean {
  return /^https?:/i.test(id);
}

/**
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): the client id is the https address of a
 * document that describes the client. The egress client fetches it without redirects. All processes share the stored
 * document for an hour, and longer only while the site cannot be reached: an unreachable site signs nobody out.
 */
export function createFindDocument(options: {
  egress: EgressClient;
  allowPrivate: boolean;
  records: SealedRecords;
  pool: Pool;
}) {
  const { egress, allowPrivate, records, pool } = options;
  return async (id: string, clientAddress: string): Promise<ClientMetadata> => {
    const fault = idFault(id, allowPrivate);
    if (fault !== undefined) throw new errors.InvalidClient(`client_id ${fault}`);
    const stored = await records.find('ClientDocument', id);
    if (stored !== undefined && stored.age < FRESH_SECONDS) return stored.payload as unknown as ClientMetadata;
    try {
      const ofNetwork = { name: 'oauth:documents', maxUses: FETCHES_PER_NETWORK, seconds: FETCHES.seconds };
      const refused = await takeForNetworks(pool, ofNetwork, clientAddress, [FETCHES]);
      if (refused !== undefined) {
        throw unavailable(`too many new apps are connecting${refused.limit === FETCHES ? '' : ' from this network'}`);
      }
      const client = readDocument(id, await fetchDocument(egress, id));
      await records.put({ model: 'ClientDocument', id, payload: { ...client }, validSeconds: UNUSED_CLIENT_SECONDS });
      return client;
    } catch (error) {
      if (stored !== undefined && error instanceof errors.TemporarilyUnavailable) {
        return stored.payload as unknown as ClientMetadata;
      }
      throw error;
    }
  };
}

function idFault(id: string, allowPrivate: boolean): string | undefined {
  if (id.length > MAX_ID_LENGTH || !URL.canParse(id)) return 'is not a URL, or is too long';
  const url = new URL(id);
  if (urlRefusal(url, allowPrivate) !== undefined) return 'must be a public https URL';
  // One spelling per document, so that the name shown to people is the address that is fetched.
  if (url.href !== id) return `must be written as ${url.href.slice(0, MAX_ID_LENGTH)}`;
  if (url.pathname === '/' || url.hash !== '') return 'must have a path and no fragment';
  return undefined;
}

async function fetchDocument(egress: EgressClient, id: string): Promise<string> {
  const answer = await egress.send({
    url: id,
    method: 'GET',
    headers: { Accept: 'application/json', 'User-Agent': 'service-oauth/1' },
    deadlineMs: DEADLINE_MS,
  });
  if (answer.error === 'blocked_address') throw new errors.InvalidClient('client_id must be a public address');
  if (answer.error !== null) throw unavailable(`it cannot be reached: ${answer.error}`);
  if (answer.status >= 500 || answer.status === 429)
    throw unavailable(`the server responded with status ${answer.status}`);
  if (answer.status !== 200)
    throw new errors.InvalidClient(`client_id: the server responded with status ${answer.status}`);
  return answer.bodyExcerpt;
}

function unavailable(reason: string): Error {
  return new errors.TemporarilyUnavailable(`The document at client_id could not be fetched: ${reason}.`);
}

function readDocument(id: string, text: string): ClientMetadata {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new errors.InvalidClient('The document at client_id is not JSON, or is longer than 64 KiB.');
  }
  const parsed = documentSchema.safeParse(document, { error: validationMessage });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new errors.InvalidClient(
      `The document at client_id: ${[issue!.path.join('.'), issue!.message].filter(Boolean).join(': ')}`,
    );
  }
  if (parsed.data.client_id !== id)
    throw new errors.InvalidClient('The document at client_id names another client_id.');
  const fault = metadataFault(parsed.data);
  if (fault !== undefined) throw new errors.InvalidClient(`The document at client_id: ${fault}`);
  return clientOf(id, parsed.data, { method: 'none' });
}

/** How long a client that nobody has authorised, or its document, is kept. */
const UNUSED_CLIENT_SECONDS = 24 * 3_600;
const MAX_REDIRECTS = 10;
const MAX_URI_LENGTH = 2_048;
const MAX_NAME_LENGTH = 100;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** The scheme of a native app, by RFC 8252 (7.1): the reversed domain of its maker, such as `com.example.app`. */
const APP_SCHEME = /^[a-z][a-z\d-]*(?:\.[a-z\d-]+)+:$/;
/** Those of widespread apps that do not follow it. */
const KNOWN_APP_SCHEMES = new Set(['cursor:', 'vscode:', 'vscode-insiders:']);
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const redirectUri = z
  .string()
  .max(MAX_URI_LENGTH)
  .refine(
    isRedirectUri,
    'must have no fragment, and use https, http on this machine (localhost), or an app scheme with a dot, such as com.example.app:',
  );

const orNull = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** The metadata of RFC 7591 that this server uses; the other members are ignored, and null counts as absent. */
const clientMetadata = z.object({
  redirect_uris: z.array(redirectUri).min(1).max(MAX_REDIRECTS),
  client_name: orNull(z.string().max(1_000)),
  grant_types: orNull(z.array(z.string()).max(20)),
  response_types: orNull(z.array(z.string()).max(20)),
  token_endpoint_auth_method: orNull(z.string()),
});

type GivenMetadata = z.output<typeof clientMetadata>;

const documentSchema = clientMetadata.extend({
  client_id: z.string(),
  token_endpoint_auth_method: z.literal('none').optional(),
  client_secret: z.undefined().optional(),
});

function metadataFault({ grant_types, response_types }: GivenMetadata): string | undefined {
  if (grant_types !== undefined && !grant_types.includes('authorization_code')) {
    return 'grant_types: must include authorization_code';
  }
  if (response_types !== undefined && !response_types.includes('code')) return 'response_types: must include code';
  return undefined;
}

/** For a redirect to this machine any port matches (RFC 8252), since apps use a free port each time. */
function clientOf(
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
  return APP_SCHEME.test(protocol) || KNOWN_APP_SCHEMES.has(protocol);
}

const BODY_LIMIT = 16 * 1024;
const METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;

/** POST /oauth/register (RFC 7591), for clients without a document. A client cannot be changed: it registers anew. */
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

const refuseBody: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  const refusal = toApiError(error);
  if (refusal === undefined || refusal.status >= 500 || refusal.code === 'method_not_allowed') {
    next(error);
    return;
  }
  response.status(refusal.status).json({ error: 'invalid_client_metadata', error_description: refusal.message });
};
