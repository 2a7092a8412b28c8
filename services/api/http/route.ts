import { json, Router } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { ChargedRequest } from '../../../shared/billing/ledger.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import { CooperativeYield } from '../../../shared/runtime/clock.ts';
import type { Caller, RequiredScope } from '../admission/caller.ts';
import type { RouteTool } from '../mcp/tool.ts';
import type { Method, Parameter } from '../openapi/openapi-shape.ts';
import type { HeaderUse } from '../openapi/responses.ts';
import { ApiError, ClientDisconnected, parseRequest, refuseParameters } from './api-error.ts';
import { sendStream, StreamedBody } from './response-stream.ts';

/** The version of the API's contract, not of the build that serves it. */
export const API_VERSION = '1.0.0';

/** An authenticated request whose query and body were parsed by the schemas of its route. */
export interface RouteRequest<Query = unknown, Body = unknown> extends UnparsedRequest {
  /** By `routeName`. */
  route: string;
  query: Query;
  /** undefined on routes without one. */
  body: Body;
  /** The body as sent, by which repeated requests are known: defaults of later versions do not change it. */
  sentBody: unknown;
}

/** An authenticated request as it reaches its route. */
export interface UnparsedRequest {
  caller: Caller;
  /** As in X-Request-Id and in the logs. */
  requestId: string;
  /** The {id} of the path; empty on routes without one. */
  id: string;
  /** The {mute_id} or {run_id} of the path; empty on routes without one. */
  partId: string;
  query: unknown;
  body: unknown;
  idempotencyKey: string | undefined;
  lastEventId: string | undefined;
  /** The type that the client prefers among those the route produces. */
  type: string;
  /** Call before charging for the response. @throws ClientDisconnected */
  throwIfDisconnected: () => void;
  /** Aborted with ClientDisconnected when the client disconnects; undefined where disconnects are not observed. */
  signal?: AbortSignal | undefined;
}

export interface RouteResponse {
  status: number;
  /** Sent as JSON. Bytes and a StreamedBody are sent unchanged, with the type that `headers` must name. */
  body: object;
  /** The member of `body` that is a list of possibly megabytes. It is written item by item, to the same bytes. */
  largeList?: string;
  headers?: Record<string, string>;
  /** On routes that charge: the credits that this request cost, and the balance afterwards. */
  charged?: { credits: number; balance: number };
}

/** A body as the API's description has it. */
export interface Content {
  /** Default: application/json. */
  type?: string;
  /** A named schema (`.meta({ id })`), or a JSON Schema for content without one. */
  schema: z.ZodType | { type: string; additionalProperties?: true };
  /** By name. Default: the example of a named schema. */
  examples?: Record<string, unknown> | undefined;
}

/** A response that is not an error. */
export interface ResponseDocument {
  status: number;
  description: string;
  /** Empty: the response has no body. */
  content: Content[];
  /** In addition to X-Request-Id and, on authenticated routes, those about credits and limits. */
  headers?: HeaderUse[];
}

export interface RouteDocument {
  method: Method;
  /** The full path, with `:id`. */
  path: string;
  /** Unique; names the function in generated clients. */
  operationId: string;
  tag: 'Reading' | 'Monitors' | 'SQL' | 'Coverage' | 'Account' | 'Sign-up' | 'Operations';
  summary: string;
  /** Markdown. */
  description: string;
  /** What each part of the path in `:name` is, with an example. */
  params?: Record<string, { description: string; example: string }>;
  /** Routes without one refuse all parameters. */
  query?: z.ZodObject;
  /** The parameters of an example request, by name. */
  example?: Record<string, unknown>;
  /** Request headers that the route reads, in addition to those of every route. */
  headers?: readonly Parameter[];
  /** Bodies sent to routes without one are ignored. */
  body?: Content;
  /** Bytes. Default: BODY_LIMIT. */
  bodyLimit?: number;
  /** Whether it honours `Idempotency-Key`. */
  isIdempotent?: boolean;
  responses: ResponseDocument[];
  /** In addition to those that follow from a body, parameters of the path, `isIdempotent` and the need of a key. */
  errors?: readonly ErrorCode[];
}

/** One route of /v1: all that is known of it. Its document, permission, tool and handler are declared once, here. */
export interface Route extends RouteDocument {
  scope: RequiredScope;
  /** Whether GET costs credits. HEAD is then refused: it would cost as much and answer nothing. */
  charges?: boolean;
  tool?: RouteTool;
  handle(request: UnparsedRequest): Promise<RouteResponse>;
}

/** A route that needs no key. Its handler answers by Express's own means, such as 304 for an ETag. */
export interface PublicRoute extends RouteDocument {
  /** Runs before the body is read. */
  before?: RequestHandler;
  /** Whether it is served at the application's address, which may differ from the API's. */
  isOfApp?: boolean;
  respond: RequestHandler;
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : unknown;

interface Declaration<Query extends z.ZodObject | undefined, Body extends z.ZodType | undefined> extends Omit<
  Route,
  'query' | 'body' | 'handle'
> {
  query?: Query;
  body?: { schema: Body; examples?: Record<string, unknown> };
  handle(request: RouteRequest<Parsed<Query>, Parsed<Body>>): Promise<RouteResponse>;
}

/** Declares a route. Its handler gets the query and the body as their schemas parse them. */
export function route<
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(declared: Declaration<Query, Body>): Route {
  const { query, body, method, path } = declared;
  const name = routeName({ method, path });
  const parsed = (schema: z.ZodType | undefined, value: unknown, valueName: string) =>
    schema === undefined ? value : parseRequest(schema, value === undefined ? {} : value, valueName);
  return {
    ...(declared as Omit<Declaration<Query, Body>, 'query' | 'body'> & Pick<RouteDocument, 'query' | 'body'>),
    handle: (request) =>
      declared.handle({
        ...request,
        route: name,
        query: parsed(query, request.query, 'query') as Parsed<Query>,
        body: parsed(body?.schema, request.body, 'body') as Parsed<Body>,
        sentBody: request.body,
      }),
  };
}

/** The name of a route in the ledger: `POST /v1/monitors/{id}/resume`. */
export function routeName({ method, path }: Pick<RouteDocument, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${openApiPath(path)}`;
}

/** Converts a path to OpenAPI's syntax, with `{id}`. */
export function openApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** A response with status 200 and JSON. */
export function ok(description: string, schema: z.ZodType, examples?: Record<string, unknown>): ResponseDocument {
  return { status: 200, description, content: [{ schema, examples }] };
}

/**
 * The longest rule has 140 terms of 100 characters and 200 names. In Chinese, from a client that escapes it (six bytes
 * a character), it takes 100 KiB.
 */
const BODY_LIMIT = 128 * 1024;
export const JSON_TYPE = 'application/json';

/**
 * Creates a router for the routes; other methods on their paths answer 405. Admission comes before this router. The
 * router then checks the method, the Accept header (not of public routes), whether there may be parameters, and the
 * body; the route checks the rest.
 */
export function createRouter(routes: readonly (Route | PublicRoute)[], callerOf: (request: Request) => Caller): Router {
  const router = Router();
  const add = (route: Route | PublicRoute, allowed: readonly string[]): void => {
    router[route.method](
      route.path,
      ...(allowed.includes('HEAD') ? [] : [refuseHead(allowed)]),
      isPublic(route) ? (route.before ?? []) : refuseOtherAccepts(typesOf(route)),
      ...(route.query === undefined ? [refuseParameters] : []),
      ...(route.body === undefined ? [] : jsonBody(route.bodyLimit ?? BODY_LIMIT)),
      isPublic(route) ? route.respond : respondWith(route, callerOf),
    );
  };
  // Path by path, literal segments before parameters, so that each path refuses its other methods itself.
  const paths = [...new Set(routes.map((route) => route.path))];
  for (const path of paths.sort((a, b) => (a.replaceAll(':', '~') < b.replaceAll(':', '~') ? -1 : 1))) {
    const ofPath = routes.filter((route) => route.path === path);
    const allowed = methodsOf(ofPath);
    for (const route of ofPath) add(route, allowed);
    router.all(path, methodNotAllowed(allowed));
  }
  return router;
}

export function isPublic(route: Route | PublicRoute): route is PublicRoute {
  return 'respond' in route;
}

/** The types that a route answers with, the default first. */
export function typesOf({ responses }: Route): string[] {
  return [...new Set(responses.flatMap(({ content }) => content.map(({ type = JSON_TYPE }) => type)))];
}

/** The methods that the routes of one path support, as in Allow. */
function methodsOf(ofPath: readonly (Route | PublicRoute)[]): string[] {
  const methods = ofPath.map(({ method }) => method.toUpperCase());
  const hasHead = ofPath.some((route) => route.method === 'get' && (isPublic(route) || route.charges !== true));
  return hasHead ? [...methods, 'HEAD'] : methods;
}

function respondWith(route: Route, callerOf: (request: Request) => Caller): RequestHandler {
  return async (request, response) => {
    const result = await route.handle(routeRequestOf(route, request, response, callerOf(request)));
    // Opened before the head is written, so that a failure to open becomes an error response.
    const stream = isStreamed(result) && request.method !== 'HEAD' ? await result.body.open() : undefined;
    if (result.charged) {
      response.set('X-Credits-Used', String(result.charged.credits));
      setCreditsRemaining(response, result.charged.balance);
    }
    response.status(result.status).set(result.headers ?? {});
    // These responses have no version. Express would answer `*` (any version) with 304 and without a body.
    delete request.headers['if-none-match'];
    if (stream !== undefined) await sendStream(stream, response);
    else if (isStreamed(result)) response.end();
    else if (result.body instanceof Uint8Array) response.send(result.body);
    else if (result.largeList === undefined) response.json(result.body);
    else response.type('json').send(await jsonInPieces(result.body, result.largeList));
  };
}

function isStreamed(result: RouteResponse): result is RouteResponse & { body: StreamedBody } {
  return result.body instanceof StreamedBody;
}

function routeRequestOf(route: Route, request: Request, response: Response, caller: Caller): UnparsedRequest {
  const types = typesOf(route);
  const { id, mute_id: muteId, run_id: partId = muteId } = request.params;
  return {
    caller,
    requestId: String(response.getHeader('X-Request-Id')),
    id: typeof id === 'string' ? id : '',
    partId: typeof partId === 'string' ? partId : '',
    query: request.query,
    body: route.body === undefined ? undefined : (request.body as unknown),
    idempotencyKey: request.get('Idempotency-Key'),
    lastEventId: request.get('Last-Event-ID'),
    type: request.accepts(types) || types[0]!,
    throwIfDisconnected: disconnectCheck(request),
    signal: abortedOnDisconnect(response),
  };
}

/** Returns a function that throws ClientDisconnected once the client has disconnected. */
export function disconnectCheck(request: Request): () => void {
  return () => {
    if (request.socket.destroyed) throw new ClientDisconnected();
  };
}

/** Aborts with ClientDisconnected when the client disconnects. */
export function abortedOnDisconnect(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new ClientDisconnected());
  });
  return controller.signal;
}

function refuseOtherAccepts(types: readonly string[]): RequestHandler {
  return (request, _response, next) => {
    if (request.accepts([...types]) === false) {
      throw new ApiError('not_acceptable', `Accept: must allow ${types.join(' or ')}.`);
    }
    next();
  };
}

/** Set on every authenticated response, including errors. */
export function setCreditsRemaining(response: Response, balance: number): void {
  response.set('X-Credits-Remaining', String(balance));
}

/** Express answers HEAD with the route for GET unless something before it refuses. */
function refuseHead(allowed: readonly string[]): RequestHandler {
  const refuse = methodNotAllowed(allowed);
  return (request, response, next) => (request.method === 'HEAD' ? refuse(request, response, next) : next());
}

/** The last handler of a path: refuses the methods that have no route. */
export function methodNotAllowed(allowed: readonly string[]): RequestHandler {
  return (request) => {
    const allow = allowed.join(', ');
    throw new ApiError('method_not_allowed', `${request.method} is not allowed here. Use ${allow}.`, {
      headers: { Allow: allow },
    });
  };
}

/** What the ledger needs of a request. */
export type ChargingRequest = Pick<RouteRequest, 'caller' | 'requestId' | 'route'>;

/** Names the request in the ledger. A tool call has the route of its tool. */
export function chargedRequest({ caller, requestId, route }: ChargingRequest): ChargedRequest {
  return { requestId, route, keyId: caller.keyId };
}

const TYPES = ['application/json', 'application/*+json'];

/**
 * Reads a JSON body of at most `limit` bytes. Other types are refused; a request without a body passes to the route.
 */
export function jsonBody(limit: number): RequestHandler[] {
  const refuseOtherTypes: RequestHandler = (request, _response, next) => {
    // `is` returns null when there is no body at all.
    if (request.headers['content-length'] !== '0' && request.is(TYPES) === false) {
      throw new ApiError('unsupported_media_type', 'Send the body as JSON, with "Content-Type: application/json".');
    }
    next();
  };
  return [refuseOtherTypes, json({ limit, strict: false, type: TYPES })];
}

/** Shared, so that no two large responses hold the event loop one after the other. */
const cooperativeYield = new CooperativeYield();

/**
 * The bytes that `JSON.stringify(body)` writes, made item by item of `member`, a list or another iterable. It yields to
 * the event loop in between: a list of megabytes would hold up all other requests for tens of milliseconds.
 */
async function jsonInPieces(body: object, member: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const write = (text: string) => pieces.push(Buffer.from(text));
  let separator = '{';
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    if (value === undefined) continue;
    write(`${separator}${JSON.stringify(name)}:`);
    separator = ',';
    if (name !== member) write(JSON.stringify(value));
    else await writeList(value as Iterable<unknown>);
  }
  write(separator === '{' ? '{}\n' : '}\n');
  return Buffer.concat(pieces);

  async function writeList(items: Iterable<unknown>): Promise<void> {
    let before = '[';
    for (const item of items) {
      await cooperativeYield.pause();
      write(before + JSON.stringify(item));
      before = ',';
    }
    write(before === '[' ? '[]' : ']');
  }
}
