import type { Dispatcher } from 'undici';
import { delay } from '../runtime/clock.ts';
import { errorCode } from '../runtime/errors.ts';
import type { Upstream } from './upstream-client.ts';

/**
 * The outcomes of a call without a usable response:
 * - refused: the forum denies the request (403, 401, 400, 451 …); `reason` is its own code, or `blocked` for an HTML
 *   page;
 * - not_found: 404, or a deleted item;
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
    return new UpstreamError('timeout', 'the forum did not respond in time', { cause: error });
  }
  return new UpstreamError('broken', 'the connection to the forum failed', {
    reason: code,
    retryable: true,
    cause: error,
  });
}

type Response = Dispatcher.ResponseData;

const DEFAULT_RETRY_AFTER_MS = 5_000;
/** Upper limit for every Retry-After. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** The value of a header; the first value when it was sent several times. */
export function header(response: Pick<Response, 'headers'>, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Reads the JSON of a response. Checks status and content type before parsing, because a block or an outage arrives as
 * an HTML page, as text or empty.
 *
 * @throws UpstreamError for everything but a 2xx response with JSON of at most `maxBytes`
 */
export async function readJson(response: Response, maxBytes: number, now: number): Promise<unknown> {
  const isJson = /^application\/json\b/i.test(header(response, 'content-type') ?? '');
  if (response.statusCode >= 200 && response.statusCode < 300) {
    if (!isJson) {
      await discard(response);
      throw new UpstreamError('broken', "the forum's response is not JSON", {
        status: response.statusCode,
        reason: 'not_json',
        retryable: true,
      });
    }
    return parseJson(await readText(response, maxBytes), response.statusCode);
  }
  if (!isJson) await discard(response);
  const reason = isJson ? readReason(await readText(response, maxBytes)) : undefined;
  throw errorOfResponse(response, reason, now);
}

function errorOfResponse(response: Response, reason: string | undefined, now: number): UpstreamError {
  const status = response.statusCode;
  const suffix = reason === undefined ? '' : ` (${reason})`;
  if (status >= 300 && status < 400) {
    const location = header(response, 'location');
    return new UpstreamError('moved', `the forum answered ${status}`, { status, location });
  }
  if (status === 429) {
    const retryAfterMs = parseRetryAfterMs(header(response, 'retry-after'), now) ?? DEFAULT_RETRY_AFTER_MS;
    return new UpstreamError('busy', 'the forum answered 429: too many calls', {
      status,
      retryAfterMs,
      retryable: true,
    });
  }
  if (status >= 500) {
    const retryAfterMs = parseRetryAfterMs(header(response, 'retry-after'), now);
    return new UpstreamError('broken', `the forum answered ${status}`, { status, retryAfterMs, retryable: true });
  }
  if (status === 404 && reason !== undefined) {
    return new UpstreamError('not_found', `not found on the forum${suffix}`, { status, reason: reason });
  }
  if (status === 404) {
    return new UpstreamError('broken', 'the forum answered 404 without its JSON', { status, reason: 'not_json' });
  }
  return new UpstreamError('refused', `the forum answered ${status}${suffix}`, {
    status,
    reason: reason ?? 'blocked',
  });
}

/** The most specific reason in {"message","error","reason"?}. */
function readReason(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null) return 'unexplained';
    if ('reason' in body && typeof body.reason === 'string') return body.reason;
    if ('message' in body && typeof body.message === 'string') return body.message;
    return 'unexplained';
  } catch {
    return 'unexplained';
  }
}

/**
 * Parses a Retry-After header, in seconds or as a date.
 *
 * @returns milliseconds, at most an hour
 */
export function parseRetryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Math.min(MAX_RETRY_AFTER_MS, Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, date - now));
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      response.body.destroy();
      throw new UpstreamError('broken', `the forum's answer is larger than ${maxBytes} bytes`, {
        status: response.statusCode,
        reason: 'too_large',
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

function parseJson(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UpstreamError('broken', "the forum's response is not valid JSON", {
      status,
      reason: 'broken_json',
      retryable: true,
      cause,
    });
  }
}

/** An unread body would block its connection. A small one is read, so that the connection can be reused. */
async function discard(response: Response): Promise<void> {
  await response.body.dump({ limit: 64 * 1024 });
}

/** The shortest wait between two requests for a call. */
const MIN_WAIT_MS = 50;
/** The wait if the budget does not say when to ask again. */
const UNKNOWN_WAIT_MS = 1_000;

/**
 * Makes a call, and makes it again while our own budget refuses it, after the time that the budget says. A refusal is
 * no answer of the forum. Any other error, and a refusal after `maxWaitMs` of waiting or an abort, is thrown.
 */
export async function whenBudgetAllows<T>(
  make: () => Promise<T>,
  { maxWaitMs, signal }: { maxWaitMs: number; signal?: AbortSignal | undefined },
): Promise<T> {
  for (let waitedMs = 0; ;) {
    try {
      return await make();
    } catch (error) {
      if (!isOwnBudgetRefusal(error) || waitedMs >= maxWaitMs || signal?.aborted) throw error;
      const wantedMs = Math.min(error.retryAfterMs ?? UNKNOWN_WAIT_MS, maxWaitMs - waitedMs);
      const waitMs = Math.max(MIN_WAIT_MS, wantedMs);
      waitedMs += waitMs;
      await delay(waitMs, signal);
    }
  }
}

type Calls = Pick<Upstream, 'get' | 'post'>;

/**
 * Waits, after its first call, for the budget: a reading that was broken off for lack of it would have to begin again,
 * or count as read what it did not read. `maxWaitMs` says how long a call may wait.
 */
export function patientUpstream(upstream: Calls, maxWaitMs: () => number): Calls {
  let hasBegun = false;
  const patiently = async (make: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> => {
    const answer = await whenBudgetAllows(make, { maxWaitMs: hasBegun ? maxWaitMs() : 0, signal });
    hasBegun = true;
    return answer;
  };
  return {
    get: (path, params, call) => patiently(() => upstream.get(path, params, call), call.signal),
    post: (path, form, call) => patiently(() => upstream.post(path, form, call), call.signal),
  };
}
