import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { TraceSpan, Tracing } from '../../../shared/runtime/tracing.ts';

/** A client may put its whole key where the id of the key belongs. */
const WHOLE_KEY = /(fk_[0-9a-z]{8})[0-9a-z]{8,}/gi;
/** The id of a sign-in under way, which works only with its cookie. */
const SIGN_IN_ID = /(\/oauth\/(?:interaction|authorize)\/)[^/]+/gi;
/** The address of a feed, which works without a key; also where it was put into a wrong address. */
const FEED_ADDRESS = /(\/feeds(?:\/|%2f)).+/i;
const FEED_TOKEN = /(feed_)[0-9a-z]{8,}/gi;
/** Requested every few seconds: they would be most of the lines and traces, and 503 is a regular response of theirs. */
const PROBES = new Set(['/healthz', '/readyz', '/status']);
const WELL_FORMED_ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Logs one line per request and sets X-Request-Id on every response: the client's own id when it is well-formed, else
 * the id of the request's trace when that is sampled, else a new one. A line contains no headers, query or body, and so
 * no keys or secrets.
 */
export function createRequestLog(logger: Logger): RequestHandler {
  // None of the fields of a line is redacted, and looking for those that are takes longer than writing the line.
  const lines = logger.child({}, { redact: [] });
  return (request, response, next) => {
    const requestId = idFor(request, response);
    response.setHeader('X-Request-Id', requestId);
    const { remoteAddress: remote } = request.socket;
    const logged = { request, response, requestId, remote, begunMs: Date.now() };
    if (!PROBES.has(originalPath(request))) response.once('close', () => logRequest(lines, logged));
    // Without a listener an error of the response would end the process. It is closed after one.
    response.on('error', () => logRequest(lines, logged, 'request errored'));
    next();
  };
}

function idFor(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const isGiven = typeof given === 'string' && WELL_FORMED_ID.test(given);
  return isGiven ? given : (traceIdOf(response) ?? randomUUID());
}

/** A logger for what goes wrong in a request: its lines name the request, and are redacted like all others. */
export function requestLogger(logger: Logger, response: ServerResponse): Logger {
  return logger.child({ requestId: String(response.getHeader('X-Request-Id')) });
}

interface LoggedRequest {
  request: IncomingMessage;
  response: ServerResponse & { isLogged?: boolean };
  requestId: string;
  remote: string | undefined;
  begunMs: number;
}

function logRequest(
  lines: Logger,
  { request, response, requestId, remote, begunMs }: LoggedRequest,
  text?: string,
): void {
  const level = response.statusCode >= 500 ? 'error' : 'info';
  if (response.isLogged === true || !lines.isLevelEnabled(level)) return;
  response.isLogged = true;
  const fields = {
    requestId,
    method: request.method,
    path: originalPath(request),
    status: response.statusCode,
    ms: Date.now() - begunMs,
    remote,
    account_id: accountOf(response),
    trace_id: traceIdOf(response),
  };
  lines[level](fields, text ?? outcomeOf(request, response));
}

function outcomeOf(request: IncomingMessage, response: ServerResponse): string {
  if (response.statusCode >= 500) return 'request errored';
  return response.writableEnded && !request.readableAborted ? 'request completed' : 'request aborted';
}

/** Notes whose request it is, for its line in the log. */
export function noteAccount(response: Response, accountId: string): void {
  response.locals.accountId = accountId;
}

function accountOf(response: ServerResponse): string | undefined {
  return (response as Partial<Pick<Response<unknown, { accountId?: string }>, 'locals'>>).locals?.accountId;
}

function originalPath(request: IncomingMessage & { originalUrl?: string }): string {
  const path = (request.originalUrl ?? request.url ?? '').split('?')[0] ?? '';
  return path
    .replace(WHOLE_KEY, '$1…')
    .replace(SIGN_IN_ID, '$1…')
    .replace(FEED_ADDRESS, '$1…')
    .replace(FEED_TOKEN, '$1…');
}

const spans = new WeakMap<ServerResponse, TraceSpan>();

/**
 * Begins a trace for each request that the sampling chooses. A caller's own `traceparent` is linked and not continued:
 * callers must not decide how much is sampled.
 */
export function createRequestTracing(tracing: Tracing): RequestHandler {
  return (request, response, next) => {
    const given = request.get('traceparent');
    const span = PROBES.has(request.path)
      ? undefined
      : tracing.begin(`HTTP ${request.method}`, {
          kind: 'server',
          attributes: { 'http.request.method': request.method },
          links: given === undefined ? [] : [given],
        });
    if (span) {
      spans.set(response, span);
      response.once('close', () => {
        const { statusCode } = response;
        const attributes = { 'http.route': routePattern(request), 'http.response.status_code': statusCode };
        span.end({ attributes, ...(statusCode >= 500 ? { error: String(statusCode) } : {}) });
      });
    }
    next();
  };
}

/** The id of the trace of a request; undefined when it is not sampled. */
function traceIdOf(response: ServerResponse): string | undefined {
  return spans.get(response)?.traceId;
}

/**
 * The pattern of a request's route, never its path: labels of metrics must have few values. Requests refused before
 * routing have none.
 */
export function routePattern(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : 'none';
}
