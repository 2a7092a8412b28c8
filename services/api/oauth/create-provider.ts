import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import Provider, { errors, interactionPolicy } from 'oidc-provider';
import type { Configuration, JWK } from 'oidc-provider';
import { newOAuthSecret } from '../../../shared/domain/accounts/oauth-secret.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { folderOf, ROUTES, resourceOf, SCOPES } from './oauth-metadata.ts';
import type { OAuthDeps } from './oauth-deps.ts';
import { createAdapterFactory } from './record-adapter.ts';
import type { FindDocument } from './client-documents.ts';
import { showErrorsLocally, showPage } from './error-redirects.ts';
import type { Page } from '../pages/page.ts';
import type { SealedRecords } from '../../../shared/stores/accounts/sealed-records.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** After this long a person must authorise the program again, however often its tokens were renewed. */
export const GRANT_SECONDS = 365 * DAY;
/** Enough to read two mails and a page. */
const INTERACTION_SECONDS = 20 * 60;

export interface ProviderDeps {
  records: SealedRecords;
  findDocument: FindDocument;
  /** The URL of the pages for a sign-in under way. */
  pageOf: (uid: string) => string;
  /** A whole page that says why the sign-in cannot continue. */
  errorPage: (description: string) => Page;
}

/**
 * OAuth 2.1 without the rest of OpenID Connect: codes with PKCE S256, opaque tokens for one resource, rotated refresh
 * tokens.
 */
export function createProvider(deps: OAuthDeps, parts: ProviderDeps): Provider {
  const provider = new Provider(deps.baseUrl, configurationOf(deps, parts));
  // Forwarded headers are safe to trust: trustIssuer sets them, never the client.
  provider.proxy = true;
  nameSecrets(provider);
  showErrorsLocally(provider, parts.errorPage);
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
  return {
    adapter: createAdapterFactory(parts.records, parts.findDocument),
    routes: ROUTES,
    responseTypes: ['code'],
    scopes: [],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { token_endpoint_auth_method: 'none', id_token_signed_response_alg: 'ES256' },
    jwks: { keys: [unusedKey()] },
    clockTolerance: 0,
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    features: featuresOf(resourceOf(deps.baseUrl)),
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: 60,
      RefreshToken: 30 * DAY,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: INTERACTION_SECONDS,
      IdToken: HOUR,
    },
    issueRefreshToken: () => Promise.resolve(true),
    rotateRefreshToken: true,
    expiresWithSession: () => Promise.resolve(false),
    // Browser programs may call from the origins of their redirects.
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
    interactions: { policy: alwaysAsk(), url: (_context, interaction) => parts.pageOf(interaction.uid) },
    async loadExistingGrant(context) {
      const grantId = context.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : context.oidc.provider.Grant.find(grantId);
    },
    async findAccount(_context, id) {
      const account = await findAccount(deps.pool, id);
      return account?.status === 'active' ? { accountId: id, claims: () => ({ sub: id }) } : undefined;
    },
    renderError(context, out) {
      showPage(context, parts.errorPage(out.error_description ?? out.error));
    },
  };
}

/** The provider requires a signing key for OpenID Connect tokens, which this server never issues. */
function unusedKey(): JWK {
  return { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), use: 'sig' };
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

/** Prefixes by which leaked tokens and codes are recognised. */
function nameSecrets(provider: Provider): void {
  const kinds = [
    [provider.AccessToken, 'access token'],
    [provider.RefreshToken, 'refresh token'],
    [provider.AuthorizationCode, 'code'],
  ] as const;
  for (const [model, kind] of kinds) {
    Object.defineProperty(model.prototype, 'generateTokenId', {
      value(this: { format?: string }) {
        this.format = 'opaque';
        return newOAuthSecret(kind);
      },
    });
  }
}
