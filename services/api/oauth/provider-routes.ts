import { Router } from 'express';
import type { Request, RequestHandler } from 'express';
import type Provider from 'oidc-provider';
import { methodNotAllowed } from '../http/route.ts';
import type { OAuthLimit } from './oauth-limits.ts';
import { folderOf, ROUTES, SCOPES } from './oauth-metadata.ts';

/** The endpoints that the provider itself answers. */
export function createProviderRoutes(provider: Provider, limit: (kind: OAuthLimit) => RequestHandler): Router {
  const router = Router();
  const answer = provider.callback();
  const hand: RequestHandler = (request, response) => answer(request, response);
  const trust = trustIssuer(provider.issuer);
  router.get(ROUTES.authorization, limit('authorization'), normaliseRequest, trust, hand);
  router.get(`${ROUTES.authorization}/:uid`, trust, hand);
  router.all([ROUTES.authorization, `${ROUTES.authorization}/:uid`], methodNotAllowed(['GET', 'HEAD']));
  for (const path of [ROUTES.token, ROUTES.revocation]) {
    router.post(path, limit('token'), trust, hand);
    router.options(path, trust, hand);
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
 * so are its nonce and its wish to choose an account, since every sign-in asks. Answers are sent in the redirect's
 * query, because other response modes need scripts on a page.
 */
const normaliseRequest: RequestHandler = (request, _response, next) => {
  const [path, query] = splitUrl(request);
  const parameters = new URLSearchParams(query);
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

function splitUrl({ url }: Request): [string, string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}
