import type { ErrorEnvelope } from '../../../schemas/api/common.ts';
import { ERROR_CODES, OUTAGE_STATUS } from '../../../shared/rules/error-codes.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';

/** One thing that is wrong in a request. */
export interface Fault {
  /** The field by the client's name for it: `limit`, `keywords[2]`. */
  field: string;
  message: string;
}

export interface ApiErrorOptions {
  /** Seconds until a retry makes sense; sent in the body and as Retry-After. */
  retryAfter?: number;
  headers?: Record<string, string>;
  /** Default: the one of the code. */
  status?: number;
  /** What is wrong with the fields of an invalid request; the dashboard shows it beside them. */
  faults?: readonly Fault[];
  /** Where the fault is in a text of the request: UTF-16 code units from 0. */
  position?: number;
  /** The request counts as one of the day's, whatever its status; default: unless it failed on our side. */
  takesDailySlot?: boolean;
}

/** A refusal whose reason the client may read. Thrown inside a transaction, it rolls everything back. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string>;
  readonly status: number;
  readonly position: number | undefined;
  readonly faults: readonly Fault[];
  readonly takesDailySlot: boolean;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = options.status ?? ERROR_CODES[code].status;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers ?? {};
    this.position = options.position;
    this.faults = options.faults ?? [];
    this.takesDailySlot = options.takesDailySlot ?? false;
  }

  get envelope(): ErrorEnvelope {
    return {
      error: {
        code: this.code,
        message: this.message,
        retryable: ERROR_CODES[this.code].retryable,
        ...(this.retryAfter === undefined ? {} : { retry_after: this.retryAfter }),
        ...(this.position === undefined ? {} : { position: this.position }),
      },
    };
  }
}

/** How soon a client may try again while an engine is unavailable, in seconds. */
const OUTAGE_RETRY_AFTER_S = 5;

/** The refusal of a request that needs an engine which is unavailable, slow or full. */
export function engineUnavailable(message: string): ApiError {
  return new ApiError('internal_error', message, { status: OUTAGE_STATUS, retryAfter: OUTAGE_RETRY_AFTER_S });
}

/** The client disconnected before its answer was ready: it gets no answer and pays nothing. */
export class ClientGone extends Error {
  override name = 'ClientGone';
}

/**
 * The answer is the same for a monitor that is unknown, another account's, malformed or deleted, so it reveals nothing.
 */
export function noSuchMonitor(): ApiError {
  return new ApiError('not_found', 'No such monitor.');
}
