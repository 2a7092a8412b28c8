import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler, Response } from 'express';
import { pinoHttp } from 'pino-http';
import { traceIdOf } from './request-tracing.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

/** A client may put its whole key where the id of the key belongs. */
const WHOLE_KEY = /(fk_[0-9a-z]{8})[0-9a-z]{8,}/gi;
/** The id of a sign-in under way, which works only with its cookie. */
const SIGN_IN_ID = /(\/oauth\/(?:interaction|authorize)\/)[^/]+/gi;
/** The address of a feed, which works without a key; also where it was put into a wrong address. */
const FEED_ADDRESS = /(\/feeds(?:\/|%2f)).+/i;
const FEED_TOKEN = /(feed_)[0-9a-z]{8,}/gi;
/** Asked for every few seconds, and 503 is one of their regular answers. */
const UNLOGGED = new Set(['/healthz', '/readyz', '/status']);
const WELL_FORMED_ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Logs one line per request and sets X-Request-Id on every answer: the client's own id when it is well-formed, else the
 * id of the request's trace when that is sampled, else a new one. A line contains no headers, query or body, and so no
 * keys or secrets.
 */
export function createRequestLog(logger: Logger): RequestHandler {
  return pinoHttp({
    // The package makes two child loggers for each request, and redaction would walk through their bindings. Its lines
    // hold the fields of `requestFields` alone, none of which is redacted.
    logger: logger.child({}, { redact: [] }),
    genReqId: (request, response) => {
      const given = request.headers['x-request-id'];
      const isGiven = typeof given === 'string' && WELL_FORMED_ID.test(given);
      const id = isGiven ? given : (traceIdOf(response) ?? randomUUID());
      response.setHeader('X-Request-Id', id);
      return id;
    },
    customLogLevel: (_request, response) => (response.statusCode >= 500 ? 'error' : 'info'),
    autoLogging: { ignore: (request) => UNLOGGED.has(originalPath(request)) },
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'requestId' },
    quietResLogger: true,
    customSuccessObject: requestFields,
    customErrorObject: (request, response, _error, line: { responseTime?: number }) =>
      requestFields(request, response, line),
    // The logger keeps its own serializers: those of the package print request headers and every field of an error. The
    // package also hands the request itself to the logger; it is dropped before redaction walks through its getters.
    serializers: { req: () => null },
    wrapSerializers: false,
  });
}

/** A logger for what goes wrong in a request: its lines name the request, and are redacted like all others. */
export function requestLogger(logger: Logger, response: ServerResponse): Logger {
  return logger.child({ requestId: String(response.getHeader('X-Request-Id')) });
}

function requestFields(request: IncomingMessage, response: ServerResponse, line: { responseTime?: number }): object {
  return {
    method: request.method,
    path: originalPath(request),
    status: response.statusCode,
    ms: line.responseTime,
    remote: request.socket.remoteAddress,
    account_id: accountOf(response),
    trace_id: traceIdOf(response),
  };
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
