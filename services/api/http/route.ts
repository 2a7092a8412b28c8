import { Router } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from '../admission/authentication.ts';
import type { Scope } from '../admission/scope.ts';
import { sendStream, StreamedBody } from './answer-stream.ts';
import { ApiError, ClientGone } from './api-error.ts';
import { jsonBody } from './json-body.ts';

/** A request that was authenticated, with what its route needs of it. Nothing in it is checked yet. */
export interface Call {
  caller: Caller;
  /** The path's {id}; empty on routes without one. */
  id: string;
  query: unknown;
  /** undefined when there is none. */
  body: unknown;
  /** The header of that name, as it came. */
  idempotencyKey: string | undefined;
  /** Likewise. */
  lastEventId: string | undefined;
  /** Of the types that the route produces, the one that the client likes best. */
  type: string;
  /** To be called before the answer is charged. @throws ClientGone when nobody waits for it any more */
  refuseAbandoned: () => void;
  /** Aborted, with ClientGone, when nobody waits for the answer any more; undefined where that is not noticed. */
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  /** Sent as JSON; bytes and a StreamedBody are sent as they are, as the type that `headers` must name. */
  body: object;
  headers?: Record<string, string>;
  /** On routes that charge: what this request cost, and the balance afterwards. */
  charged?: { credits: number; balance: number };
}

/** One route of /v1, as data. */
export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** Whole, with the version. */
  path: string;
  /** The permission it requires; absent: every valid key may use it. */
  scope?: Scope;
  /** Whether a JSON body is read; a body sent to other routes is ignored. */
  readsBody?: boolean;
  /** The types it can answer with, the usual one first; JSON when absent. */
  produces?: readonly [string, ...string[]];
  handle(call: Call): Promise<Answer>;
}

/** Twenty keywords and as many excluded terms of 100 four-byte characters are 16 KiB. */
const BODY_LIMIT = 64 * 1024;
const JSON_ONLY = ['application/json'] as const;

/**
 * A router of these routes; another method on one of their paths is 405. Checks come in one order: the caller is known
 * before the router runs, then the method, what can be answered, the body, and what the route itself checks.
 */
export function createRouter(routes: readonly Route[], callerOf: (request: Request) => Caller): Router {
  const router = Router();
  for (const route of routes) {
    const types = route.produces ?? JSON_ONLY;
    const readers = route.readsBody === true ? jsonBody(BODY_LIMIT) : [];
    router[route.method](route.path, refuseOtherAnswers(types), ...readers, answerWith(route, callerOf));
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map((route) => route.method.toUpperCase());
    router.all(path, methodNotAllowed(methods.includes('GET') ? [...methods, 'HEAD'] : methods));
  }
  return router;
}

function answerWith(route: Route, callerOf: (request: Request) => Caller): RequestHandler {
  return async (request, response) => {
    const answer = await route.handle(callOf(route, request, response, callerOf(request)));
    // Before the head is written: what keeps it from opening is answered as an error.
    const stream = isStreamed(answer) && request.method !== 'HEAD' ? await answer.body.open() : undefined;
    if (answer.charged) {
      response.set('X-Credits-Used', String(answer.charged.credits));
      setCreditsRemaining(response, answer.charged.balance);
    }
    response.status(answer.status).set(answer.headers ?? {});
    if (stream !== undefined) await sendStream(stream, response);
    else if (isStreamed(answer)) response.end();
    else if (answer.body instanceof Uint8Array) response.send(answer.body);
    else response.json(answer.body);
  };
}

function isStreamed(answer: Answer): answer is Answer & { body: StreamedBody } {
  return answer.body instanceof StreamedBody;
}

function callOf({ produces = JSON_ONLY }: Route, request: Request, response: Response, caller: Caller): Call {
  const { id } = request.params;
  return {
    caller,
    id: typeof id === 'string' ? id : '',
    query: request.query,
    body: request.body as unknown,
    idempotencyKey: request.get('Idempotency-Key'),
    lastEventId: request.get('Last-Event-ID'),
    type: request.accepts([...produces]) || produces[0],
    refuseAbandoned: () => {
      if (request.socket.destroyed) throw new ClientGone();
    },
    signal: untilGone(response),
  };
}

function untilGone(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new ClientGone());
  });
  return gone.signal;
}

function refuseOtherAnswers(types: readonly string[]): RequestHandler {
  return (request, _response, next) => {
    if (request.accepts([...types]) === false) {
      throw new ApiError('not_acceptable', `Accept: must allow ${types.join(' or ')}.`);
    }
    next();
  };
}

/** On every authenticated answer, errors too. */
export function setCreditsRemaining(response: Response, balance: number): void {
  response.set('X-Credits-Remaining', String(balance));
}

/** For the last handler of a path. */
export function methodNotAllowed(allowed: readonly string[]): RequestHandler {
  return (request) => {
    const allow = allowed.join(', ');
    throw new ApiError('method_not_allowed', `${request.method} is not possible here, only ${allow}.`, {
      headers: { Allow: allow },
    });
  };
}
