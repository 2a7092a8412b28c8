import { Router } from 'express';
import type { ResourceProtection } from '../mcp/mcp-router.ts';
import { methodNotAllowed } from '../http/route.ts';

export const SCOPES: ReadonlyMap<string, string> = new Map([
  ['forum:read', 'Read and search the forum, using your credits'],
  [
    'monitors',
    'View, create, change, pause and resume monitors, choose where their matches are sent, and read matches, using your credits',
  ],
]);

export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
} as const;
export const REGISTRATION = '/oauth/register';
export const SIGN_IN_LINK = '/oauth/link';

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server';
const FRESH_SECONDS = 300;

/** The path of the service's public address, without a trailing slash. */
export function folderOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** The address of the tool server, the only audience of tokens. */
export function resourceOf(baseUrl: string): string {
  return `${baseUrl}/mcp`;
}

/** Directs clients of the tool server to its metadata (RFC 9728). */
export function protectionOf(baseUrl: string): ResourceProtection {
  const parameters = [
    `resource_metadata="${baseUrl}${PROTECTED_RESOURCE}/mcp"`,
    `scope="${[...SCOPES.keys()].join(' ')}"`,
  ];
  return {
    resource: resourceOf(baseUrl),
    challenge: (isBad) => `Bearer ${[...(isBad ? ['error="invalid_token"'] : []), ...parameters].join(', ')}`,
  };
}

/** The discovery documents for clients (RFC 9728, RFC 8414). They are readable from any origin. */
export function createMetadataRouter(baseUrl: string): Router {
  const router = Router();
  const paths = new Map<string, object>([
    [PROTECTED_RESOURCE, protectedResource(baseUrl)],
    [`${PROTECTED_RESOURCE}/mcp`, protectedResource(baseUrl)],
    [AUTHORIZATION_SERVER, authorizationServer(baseUrl)],
  ]);
  for (const [path, document] of paths) {
    router.get(path, (_request, response) => {
      response.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': `public, max-age=${FRESH_SECONDS}` });
      response.json(document);
    });
    router.all(path, methodNotAllowed(['GET', 'HEAD']));
  }
  return router;
}

function protectedResource(baseUrl: string): object {
  return {
    resource: resourceOf(baseUrl),
    authorization_servers: [baseUrl],
    scopes_supported: [...SCOPES.keys()],
    bearer_methods_supported: ['header'],
    resource_name: 'Forum monitor',
    resource_documentation: `${baseUrl}/docs`,
  };
}

function authorizationServer(baseUrl: string): object {
  return {
    issuer: baseUrl,
    authorization_endpoint: baseUrl + ROUTES.authorization,
    token_endpoint: baseUrl + ROUTES.token,
    revocation_endpoint: baseUrl + ROUTES.revocation,
    registration_endpoint: baseUrl + REGISTRATION,
    scopes_supported: [...SCOPES.keys()],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${baseUrl}/docs`,
  };
}
