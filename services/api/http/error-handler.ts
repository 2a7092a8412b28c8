import type { ErrorRequestHandler } from 'express';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { unavailableEngine } from '../../../shared/runtime/outage-log.ts';
import { OUTAGE_STATUS } from '../../../shared/rules/error-codes.ts';
import { isOutcomeUnknown } from '../../../shared/postgres/pool.ts';
import { ApiError, ClientGone, engineUnavailable } from './api-error.ts';

/** Every request fails while an engine is unreachable, so one line a minute covers them all. */
const OUTAGE_LOG_MS = 60_000;

/**
 * Turns any thrown value into the error envelope. An unexpected error is logged in full, and the client gets only the
 * request id: no message, no stack.
 */
export function createErrorHandler(logger: Logger): ErrorRequestHandler {
  let outageLoggedAt = Number.NEGATIVE_INFINITY;
  const logOutage = (error: unknown) => {
    const engine = unavailableEngine(error);
    if (engine === undefined || performance.now() - outageLoggedAt < OUTAGE_LOG_MS) return;
    outageLoggedAt = performance.now();
    logger.warn({ err: error, engine }, 'an engine is away: requests that need it are answered 503');
  };
  return (error: unknown, _request, response, next) => {
    // The client has disconnected.
    if (error instanceof ClientGone) return;
    const known = toApiError(error);
    const requestId = String(response.getHeader('X-Request-Id'));
    if (known === undefined) logger.error({ err: error, requestId }, 'a request failed');
    else if (known.status === OUTAGE_STATUS) logOutage(error);
    if (response.headersSent) {
      // The status was sent already: only breaking off the answer tells the client.
      next(error);
      return;
    }
    const refusal = known ?? new ApiError('internal_error', `Something broke on our side (request ${requestId}).`);
    // HTTP requires this header on every 401; a refusal may set a better one.
    if (refusal.status === 401) response.set('WWW-Authenticate', 'Bearer');
    response.set(refusal.headers);
    if (refusal.retryAfter !== undefined) response.set('Retry-After', String(refusal.retryAfter));
    response.status(refusal.status).json(refusal.envelope);
  };
}

/**
 * The error that the client may see; undefined for an unexpected error, of which it learns only that something failed.
 */
export function toApiError(error: unknown): ApiError | undefined {
  return error instanceof ApiError ? error : (frameworkError(error) ?? outageError(error));
}

/** The engine is expected back. Nothing was done, unless the commit itself got no answer. */
function outageError(error: unknown): ApiError | undefined {
  if (unavailableEngine(error) === undefined) return undefined;
  if (isOutcomeUnknown(error)) {
    return engineUnavailable(
      'The service cannot answer for the moment, nor tell whether the request took effect. ' +
        'GET /v1/account/ledger lists what was charged, by request; a read or a statement is given back.',
    );
  }
  return engineUnavailable('The service cannot answer for the moment. Nothing was charged.');
}

/** Errors that Express and its body parser throw about the client's input; undefined for all others. */
function frameworkError(error: unknown): ApiError | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  if (error.status === 413) {
    const limit = 'limit' in error ? ` at most ${Number(error.limit) / 1024} KiB` : ' less';
    return new ApiError('payload_too_large', `body: must have${limit}.`);
  }
  if (error.status === 415) {
    return new ApiError('unsupported_media_type', 'body: its character set or compression is not supported.');
  }
  if (error instanceof URIError) return new ApiError('not_found', 'The path is not valid percent-encoding.');
  if (error.status === 400) return new ApiError('invalid_request', 'body: must be complete and valid JSON.');
  return undefined;
}
