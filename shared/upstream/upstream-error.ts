/**
 * What became of a call that brought no answer:
 * - refused: the forum says no to us (403, 401, 400, 451 …); `reason` is its own word for it, or `blocked` for an HTML
 *   page;
 * - not_found: 404, or a thing that is gone for good;
 * - moved: a redirect, which is never followed; `location` says where to;
 * - busy: 429, or our own budget is used up; `retryAfterMs` says when to come back;
 * - timeout: no complete answer before the deadline;
 * - broken: 5xx, a lost connection, a body that is not JSON, too large, or of a shape we do not know.
 */
export type UpstreamFailure = 'refused' | 'not_found' | 'moved' | 'busy' | 'timeout' | 'broken';

export interface UpstreamErrorOptions {
  status?: number | undefined;
  reason?: string | undefined;
  retryAfterMs?: number | undefined;
  location?: string | undefined;
  /** Whether the same call may succeed at once. */
  retryable?: boolean;
  cause?: unknown;
}

/** The only error that calls to the forum throw, apart from the caller's own abort. */
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
