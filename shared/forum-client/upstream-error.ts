import { errorCode } from '../runtime/errors.ts';

/**
 * The outcomes of a call without a usable response:
 * - refused: the forum denies the request (403, 401, 400, 451 …); `reason` is its own code, or `blocked` for an HTML
 *   page;
 * - not_found: 404, or a deleted thing;
 * - moved: a redirect, which is never followed; `location` is its target;
 * - busy: 429, or our own budget is used up; `retryAfterMs` says how long to wait;
 * - timeout: no complete response before the deadline;
 * - broken: 5xx, a lost connection, or a body that is not JSON, too large, or of unknown shape.
 */
export type UpstreamFailure = 'refused' | 'not_found' | 'moved' | 'busy' | 'timeout' | 'broken';

export interface UpstreamErrorOptions {
  status?: number | undefined;
  reason?: string | undefined;
  retryAfterMs?: number | undefined;
  location?: string | undefined;
  /** Whether an immediate retry may succeed. */
  retryable?: boolean;
  cause?: unknown;
}

/** The only error that calls to the forum throw, except the caller's own abort. */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  readonly failure: UpstreamFailure;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly location: string | undefined;
  readonly retryable: boolean;

  constructor(failure: UpstreamFailure, message: string, options: UpstreamErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.status = options.status;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
    this.location = options.location;
    this.retryable = options.retryable ?? false;
  }
}

/**
 * Whether our own budget of calls refused the call: no client may call before `retryAfterMs` has passed. The forum did
 * not answer the call; at most it refused some of our clients.
 */
export function isOwnBudgetRefusal(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.reason === 'own_budget';
}

const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Translates what a request threw.
 *
 * @param deadline of the call: after it any error is a timeout
 */
export function toUpstreamError(error: unknown, deadline?: AbortSignal): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = errorCode(error);
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  if (deadline?.aborted || isTimeout || (code !== undefined && TIMEOUT_CODES.has(code))) {
    return new UpstreamError('timeout', 'the forum did not answer in time', { cause: error });
  }
  return new UpstreamError('broken', 'the connection to the forum failed', {
    reason: code,
    retryable: true,
    cause: error,
  });
}
