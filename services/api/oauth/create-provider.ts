import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import Provider, { errors, interactionPolicy } from 'oidc-provider';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import { newOAuthSecret } from '../../../shared/accounts/rules/credentials.ts';
import type { EgressClient } from '../../../shared/http/egress-client.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { methodNotAllowed } from '../http/route.ts';
import type { SignupDeps } from '../signup/signup-routes.ts';
import type { OAuthLimit } from './oauth-limits.ts';
import { folderOf, ROUTES, resourceOf, SCOPES } from './oauth-metadata.ts';
import { createAdapterFactory } from './record-adapter.ts';
import type { FindDocument } from './client-documents.ts';
import type { Page } from '../../../shared/http/page.ts';
import { errorPage } from './pages.ts';
import type { SealedRecords } from '../../../shared/accounts/sealed-records.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** After this long a person must authorise the app again, however often its tokens were renewed. */
export const GRANT_SECONDS = 365 * DAY;
/** Enough to read two mails and a page. */
const INTERACTION_SECONDS = 20 * 60;

export interface OAuthDeps extends SignupDeps {
  secretBox: SecretBox;
  egress: EgressClient;
  /** Whether those documents may be at http:// and private addresses (development and tests). */
  webhooks: { allowPrivate: boolean };
}

interface ProviderDeps {
  records: SealedRecords;
  findDocument: FindDocument;
  /** The page of a sign-in under way. */
  urlOf: (uid: string) => string;
}

/** OAuth 2.1 without OpenID Connect: codes with PKCE S256, opaque tokens for one resource, rotated refresh tokens. */
export function createProvider(deps: OAuthDeps, parts: ProviderDeps): Provider {
  const provider = new Provider(deps.baseUrl, configurationOf(deps, parts));
  // Forwarded headers are safe to trust: trustIssuer sets them, never the client.
  provider.proxy = true;
  showErrorsLocally(provider);
  provider.use(async (context, next) => {
    await next();
    if (context.status === 503) context.set('Retry-After', '5');
  });
  provider.on('server_error', (_context, error) => {
    deps.logger.error({ err: error }, 'a sign-in request failed');
  });
  return provider;
}

function configurationOf(deps: OAuthDeps, parts: ProviderDeps): Configuration {
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;
  const { privateKey: unusedKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    adapter: createAdapterFactory(parts.records, parts.findDocument),
    routes: ROUTES,
    responseTypes: ['code'],
    scopes: [],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { token_endpoint_auth_method: 'none', id_token_signed_response_alg: 'ES256' },
    // The provider requires a key for OpenID Connect tokens, which this server never issues.
    jwks: { keys: [{ ...unusedKey.export({ format: 'jwk' }), use: 'sig' }] },
    clockTolerance: 0,
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    features: featuresOf(resourceOf(deps.baseUrl)),
    ttl: {
      AccessToken: namedSecret('access token', HOUR),
      AuthorizationCode: namedSecret('code', 60),
      RefreshToken: namedSecret('refresh token', 30 * DAY),
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: INTERACTION_SECONDS,
      IdToken: HOUR,
    },
    issueRefreshToken: () => Promise.resolve(true),
    rotateRefreshToken: true,
    expiresWithSession: () => Promise.resolve(false),
    // Apps in browsers may call from the origins of their redirects.
    clientBasedCORS: (_context, origin, client) =>
      client.redirectUris?.some((uri) => URL.parse(uri)?.origin === origin) ?? false,
    cookies: {
      // The first signs; the others are accepted.
      keys: [deps.secretKey, ...(deps.previousKeys ?? [])].map((key) =>
        Buffer.from(hkdfSync('sha256', key, '', 'forum-monitor sign-in cookies v1', 32)).toString('hex'),
      ),
      names: { session: 'oauth_session', interaction: 'oauth_interaction', resume: 'oauth_resume' },
      long: { ...cookie, path: `${folderOf(deps.baseUrl)}/oauth` },
      short: cookie,
    },
    interactions: { policy: alwaysAsk(), url: (_context, interaction) => parts.urlOf(interaction.uid) },
    async loadExistingGrant(context) {
      const grantId = context.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : context.oidc.provider.Grant.find(grantId);
    },
    async findAccount(_context, id) {
      const account = await findAccount(deps.pool, id);
      return account?.status === 'active' ? { accountId: id, claims: () => ({ sub: id }) } : undefined;
    },
    renderError(context, out) {
      showPage(context, errorPage(out.error_description ?? out.error));
    },
  };
}

function featuresOf(resource: string): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    revocation: { enabled: true, allowedPolicy: (_context, client, token) => client.clientId === token.clientId },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => Promise.resolve(resource),
      useGrantedResource: () => Promise.resolve(true),
      getResourceServerInfo(_context, requested) {
        if (requested !== resource && requested !== `${resource}/`) throw new errors.InvalidTarget();
        return { scope: [...SCOPES.keys()].join(' '), audience: resource, accessTokenFormat: 'opaque' };
      },
    },
  };
}

/** No earlier sign-in or authorisation counts. */
function alwaysAsk(): interactionPolicy.Prompt[] {
  const { Prompt, Check } = interactionPolicy;
  const isOpen = (name: 'login' | 'consent') =>
    new Check(
      `no_${name}`,
      `${name} is asked for`,
      `${name}_required`,
      ({ oidc }) => oidc.result?.[name] === undefined,
    );
  return [
    new Prompt({ name: 'login', requestable: true }, isOpen('login')),
    new Prompt({ name: 'consent', requestable: true }, isOpen('consent')),
  ];
}

/** The provider asks for the validity before it generates an id, so this sets the id, with our prefix. */
function namedSecret(kind: Parameters<typeof newOAuthSecret>[0], seconds: number) {
  return (_context: KoaContextWithOIDC, token: object): number => {
    Object.assign(token, { jti: newOAuthSecret(kind), format: 'opaque' });
    return seconds;
  };
}

/**
 * Shows errors on our own page instead of redirecting to the client, until the person has decided in this browser.
 * Anybody can register a client and allow it with their own account. Its requests could otherwise redirect other people
 * from our address to any site (RFC 9700, 4.11.2). A denial, and errors after the decision, are redirected.
 */
function showErrorsLocally(provider: Provider): void {
  const refusals = new WeakMap<object, Error>();
  const note = (context: object, error: Error) => void refusals.set(context, error);
  provider.on('authorization.error', note);
  provider.on('server_error', note);
  provider.use(async (anyContext, next) => {
    await next();
    const refusal = refusals.get(anyContext);
    if (refusal === undefined || anyContext.response.get('Location') === '') return;
    const context = anyContext as unknown as KoaContextWithOIDC;
    const { result } = context.oidc.entities.Interaction ?? {};
    if (result?.error !== undefined || result?.consent !== undefined) return;
    context.remove('Location');
    context.status = 400;
    showPage(context, errorPage(descriptionOf(refusal)));
  });
}

/** An error that OAuth does not define is our fault: the page gives no details. */
function descriptionOf(refusal: Error): string {
  const known = refusal instanceof errors.OIDCProviderError && refusal.expose;
  return known ? (refusal.error_description ?? refusal.error) : 'Something went wrong on our side.';
}

function showPage(context: KoaContextWithOIDC, page: Page): void {
  context.type = 'html';
  context.set('Cache-Control', 'no-store');
  context.set('Content-Security-Policy', page.contentSecurityPolicy);
  context.body = page.text;
}

export function createProviderRoutes(provider: Provider, limit: (kind: OAuthLimit) => RequestHandler): Router {
  const router = Router();
  const answer = provider.callback();
  const handle: RequestHandler = (request, response) => answer(request, response);
  const trust = trustIssuer(provider.issuer);
  router.get(ROUTES.authorization, limit('authorization'), normaliseRequest, trust, handle);
  router.get(`${ROUTES.authorization}/:uid`, trust, handle);
  router.all([ROUTES.authorization, `${ROUTES.authorization}/:uid`], methodNotAllowed(['GET', 'HEAD']));
  for (const path of [ROUTES.token, ROUTES.revocation]) {
    router.post(path, limit('token'), trust, handle);
    router.options(path, trust, handle);
    router.all(path, methodNotAllowed(['POST', 'OPTIONS']));
  }
  return router;
}

/**
 * Makes the provider use the service's own address instead of the one in the request: cookies are secure when it is
 * https, and no header of a client can enter an address that the provider builds.
 */
export function trustIssuer(issuer: string): RequestHandler {
  const { protocol, host } = new URL(issuer);
  const folder = folderOf(issuer);
  return (request, _response, next) => {
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    request.headers['x-forwarded-host'] = host;
    request.headers.host = host;
    request.originalUrl = folder + request.url;
    next();
  };
}

/**
 * A request without a known scope asks for all scopes; unknown ones, such as those of OpenID Connect, are dropped, and
 * so are its nonce and its wish to choose an account, since every sign-in asks. Responses are sent in the redirect's
 * query, because other response modes need scripts on a page.
 */
const normaliseRequest: RequestHandler = (request, _response, next) => {
  const { pathname: path, searchParams: parameters } = new URL(request.url, 'http://localhost');
  const known = (parameters.get('scope') ?? '').split(' ').filter((scope) => SCOPES.has(scope));
  if (parameters.getAll('scope').length < 2) {
    parameters.set('scope', (known.length > 0 ? known : [...SCOPES.keys()]).join(' '));
  }
  parameters.delete('nonce');
  const prompts = parameters
    .get('prompt')
    ?.split(' ')
    .filter((prompt) => prompt !== 'select_account');
  if (prompts?.length === 0) parameters.delete('prompt');
  else if (prompts && parameters.getAll('prompt').length === 1) parameters.set('prompt', prompts.join(' '));
  const mode = parameters.get('response_mode');
  if (mode !== null && mode !== 'query') parameters.set('response_mode', 'unsupported');
  request.url = `${path}?${parameters.toString()}`;
  next();
};
