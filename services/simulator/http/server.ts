import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Access } from './access.ts';
import { controlRoute, duplicateChildren, insertMore } from './control-routes.ts';
import type { ControlDeps, Fault } from './control-routes.ts';
import { commentsRoute, duplicatesRoute, moreChildrenRoute } from './forum-routes.ts';
import * as listings from './forum-routes.ts';
import { PaymentSimulator } from './payment-simulator.ts';
import { failure, ok, page } from './route.ts';
import type { RouteResponse, RouteRequest } from './route.ts';

export interface Latency {
  minMs: number;
  maxMs: number;
}

type ServerDeps = ControlDeps & { latency: Latency; payments: PaymentSimulator | undefined };

export function requestListener(deps: ServerDeps): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    handle(deps, request, response).catch((error: unknown) => {
      // Report a bug of the simulator and end the request, otherwise the client waits forever.
      process.stderr.write(`simulator: ${error instanceof Error ? String(error.stack) : String(error)}\n`);
      if (!response.headersSent) send(response, page(500, 'Internal Server Error'), false);
      else response.destroy();
    });
  };
}

async function handle(deps: ServerDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { world, faults } = deps;
  const target = request.url ?? '/';
  const url = new URL(target, 'http://localhost');
  const path = url.pathname;
  const method = request.method ?? 'GET';
  const body = method === 'POST' ? await text(request) : '';
  if (deps.payments !== undefined && PaymentSimulator.serves(path)) {
    const { authorization, 'idempotency-key': key } = request.headers;
    const headers = { authorization, idempotencyKey: Array.isArray(key) ? key[0] : key };
    const asked = { method, path, query: url.searchParams, body: new URLSearchParams(body), headers };
    send(response, deps.payments.answer(asked), true);
    return;
  }
  world.emission.advance();
  if (path === '/healthz' || path.startsWith('/simulator/')) {
    send(
      response,
      path === '/healthz' ? ok({ status: 'ok' }) : controlResponse(deps, request, { method, url, body }),
      true,
    );
    return;
  }
  const endExpansion =
    path === '/api/morechildren'
      ? deps.access.beginExpansion(request.headers.authorization, world.now())
      : (): void => undefined;
  if (endExpansion !== undefined) response.once('close', endExpansion);
  // Half of the latency comes before the request is handled and half after it, so a response is already old on arrival.
  const oneWayMs = oneWayDelayMs(deps.latency);
  if (oneWayMs > 0) await delay(oneWayMs);
  const fault = faults.take(path, world.now());
  if (fault?.kind === 'outage') {
    request.socket.destroy();
    return;
  }
  if (fault?.kind === 'slow') await delay(fault.delay_ms);
  const faultResponse = fault && responseOfFault(fault);
  for (const [name, value] of new URLSearchParams(body)) url.searchParams.set(name, value);
  const staleMs = fault?.kind === 'stale' ? fault.age_ms : 0;
  const isRefused = endExpansion === undefined;
  const answer =
    faultResponse ?? apiResponse(deps, request, { url, method, urlLength: target.length, staleMs, isRefused });
  if (fault?.kind === 'duplicates') duplicateChildren(answer.body);
  if (fault?.kind === 'more') insertMore(answer.body);
  deps.oddShapes.apply(answer.body);
  if (oneWayMs > 0) await delay(oneWayMs);
  send(response, answer, url.searchParams.get('raw_json') === '1', fault?.kind === 'truncated');
}

function oneWayDelayMs({ minMs, maxMs }: Latency): number {
  return (minMs + Math.random() * (maxMs - minMs)) / 2;
}

/** A web page that a browser on this machine shows may not control the simulator. */
function controlResponse(
  deps: ServerDeps,
  { headers }: IncomingMessage,
  { method, url, body }: { method: string; url: URL; body: string },
): RouteResponse {
  if (headers.origin !== undefined) return failure(403);
  return controlRoute(deps, { method, path: url.pathname, body: parseJson(body) });
}

interface ParsedRequest {
  url: URL;
  method: string;
  urlLength: number;
  staleMs: number;
  isRefused: boolean;
}

function apiResponse(deps: ControlDeps, request: IncomingMessage, parsed: ParsedRequest): RouteResponse {
  const { world, access } = deps;
  const { url, method, urlLength, staleMs, isRefused } = parsed;
  const now = world.emission.advance();
  const refusedAgent = Access.agentRefusal(request.headers['user-agent']);
  if (refusedAgent) return refusedAgent;
  const { authorization } = request.headers;
  if (url.pathname === '/api/v1/access_token') {
    if (method !== 'POST') return { status: 405, body: { message: 'Method Not Allowed', error: 405 } };
    return access.issue(authorization, url.searchParams.get('grant_type'), now);
  }
  const { refusal, headers } = access.admit(authorization, now);
  if (isRefused && !refusal) return { ...failure(429), headers: { ...headers, 'retry-after': '1' } };
  const answer =
    refusal ?? route({ world, method, path: url.pathname, query: url.searchParams, urlLength, now, staleMs });
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

function responseOfFault(fault: Fault): RouteResponse | undefined {
  const retry = { 'retry-after': String(fault.retry_after) };
  if (fault.kind === '429')
    return { status: 429, body: 'Too Many Requests', headers: { 'content-type': 'text/plain', ...retry } };
  if (fault.kind === 'html403') return page(403, 'Blocked');
  return fault.kind === '5xx' ? page(fault.status, 'Our CDN was unable to reach our servers') : undefined;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** As upstream without raw_json. In JSON < > & occur only inside strings. */
function escapeStrings(json: string): string {
  return json.replace(/[<>&]/g, (character) => (character === '<' ? '&lt;' : character === '>' ? '&gt;' : '&amp;'));
}

function send(response: ServerResponse, answer: RouteResponse, raw: boolean, truncated = false): void {
  const isJson = typeof answer.body === 'object';
  let content = isJson ? JSON.stringify(answer.body) : (answer.body as string);
  if (isJson && !raw) content = escapeStrings(content);
  if (truncated) content = content.slice(0, Math.floor(content.length / 2));
  const type = isJson ? 'application/json; charset=UTF-8' : 'text/html; charset=UTF-8';
  const body = Buffer.from(content);
  response.writeHead(answer.status, {
    'content-type': type,
    'cache-control': 'private, max-age=3600',
    ...answer.headers,
    'content-length': body.length,
  });
  response.end(body);
}

type Handler = (request: RouteRequest, ...parts: (string | undefined)[]) => RouteResponse;

const NAMES = '([\\w+-]+)';
const SORTS = '(new|hot|top|rising|controversial|comments)';

/** Path patterns and their handlers. The groups of a pattern are further arguments of the handler. */
const ROUTES: readonly [pattern: RegExp, handler: Handler][] = [
  [/^\/api\/info$/, listings.infoRoute],
  [/^\/api\/morechildren$/, moreChildrenRoute],
  [/^\/(new|hot|top|rising|controversial)$/, (request, sort) => listings.communityListing(request, 'all', sort!)],
  [new RegExp(`^/r/${NAMES}/${SORTS}$`), (request, names, sort) => listings.communityListing(request, names!, sort!)],
  [new RegExp(`^/r/${NAMES}$`), (request, names) => listings.communityListing(request, names!, 'hot')],
  [/^\/r\/(\w+)\/about$/, (request, name) => listings.aboutRoute(request, name!, false)],
  [/^\/r\/(\w+)\/about\/rules$/, (request, name) => listings.aboutRoute(request, name!, true)],
  [/^\/r\/\w+\/s\/(\w+)$/, (request, code) => listings.shareRoute(request, code!)],
  [/^\/r\/(\w+)\/search$/, (request, name) => listings.searchRoute(request, name)],
  [/^\/search$/, (request) => listings.searchRoute(request, undefined)],
  [/^(?:\/r\/\w+)?\/comments\/(\w+)$/, (request, id) => commentsRoute(request, id!, undefined)],
  [/^(?:\/r\/\w+)?\/comments\/(\w+)\/[^/]+$/, (request, id) => commentsRoute(request, id!, undefined)],
  [/^(?:\/r\/\w+)?\/comments\/(\w+)\/[^/]*\/(\w+)$/, (request, id, comment) => commentsRoute(request, id!, comment)],
  [/^(?:\/r\/\w+)?\/duplicates\/(\w+)(?:\/[^/]*)?$/, (request, id) => duplicatesRoute(request, id!)],
  [/^\/subreddits\/(popular|new|default)$/, (request, sort) => listings.communitiesRoute(request, sort!)],
  [/^\/subreddits\/search$/, listings.communitySearchRoute],
  [
    /^\/users?\/([\w-]+)\/(about|submitted|comments|overview)$/,
    (request, name, view) => listings.userRoute(request, name!, view!),
  ],
];

function route(request: RouteRequest): RouteResponse {
  const path = request.path.replace(/\.json$/, '').replace(/(.)\/$/, '$1');
  for (const [pattern, handler] of ROUTES) {
    const parts = pattern.exec(path);
    if (!parts) continue;
    if (request.method !== 'GET' && path !== '/api/morechildren') return failure(405);
    return handler(request, ...parts.slice(1));
  }
  return failure(404);
}
