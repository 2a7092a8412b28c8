import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { z } from 'zod';
import type { ErrorEnvelope } from '../../../schemas/api/common.ts';
import { countHosts } from '../../../shared/http/limited-server.ts';
import { isOutcomeUnknown } from '../../../shared/postgres/pool.ts';
import { ERROR_CODES, OUTAGE_STATUS } from '../../../shared/rules/error-codes.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { unavailableEngine } from '../../../shared/runtime/outage-log.ts';

/** What is wrong with one field of a request. */
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
  /** Whether the request keeps its daily slot whatever its status; by default one with 429 or 5xx does not. */
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

  /** The body of the response. @param baseUrl where the documentation is, without a trailing slash */
  envelope(baseUrl: string): ErrorEnvelope {
    return {
      error: {
        code: this.code,
        message: this.message,
        doc_url: `${baseUrl}/docs/reference/errors#${this.code}`,
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

/** The client disconnected before its response was ready: it gets no response and pays nothing. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected';
}

/** The same for a monitor that is unknown, another account's, malformed or deleted, so that it reveals nothing. */
export function noSuchMonitor(): ApiError {
  return new ApiError('not_found', 'No such monitor.');
}

const MAX_FAULTS_NAMED = 5;

/** A 400 that lists the faults, each with its field first; only the first few when there are many. */
export function invalidRequest(faults: readonly Fault[]): ApiError {
  const named = faults.slice(0, MAX_FAULTS_NAMED).map(({ field, message }) => `${field}: ${message}`);
  const more = faults.length - named.length;
  return new ApiError('invalid_request', named.join('; ') + (more > 0 ? `; and ${more} more` : ''), { faults });
}

/** @throws ApiError invalid_request when there are any faults */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}

/**
 * Parses client input with a schema.
 *
 * @param name what messages call the value itself, for one that is not an object
 * @throws ApiError invalid_request that names the wrong fields
 */
export function parseRequest<S extends z.ZodType>(schema: S, value: unknown, name: string): z.output<S> {
  refuseManyValues(value);
  const parsed = schema.safeParse(value, { reportInput: true, error: validationMessage });
  if (parsed.success) return parsed.data;
  const unknown = isCutUrl(value) ? UNKNOWN_AFTER_URL : UNKNOWN;
  throw invalidRequest(parsed.error.issues.flatMap((issue) => faultsOf(issue, name, unknown)));
}

/** More than the longest rule has. Validating tens of thousands of values would stop the process for seconds. */
const MAX_VALUES = 2_000;

function refuseManyValues(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, member] of Object.entries(value) as [string, unknown][]) {
    const waiting = [member];
    for (let count = 0; waiting.length > 0; count++) {
      if (count > MAX_VALUES) throw invalidRequest([{ field: printable(field), message: 'has too many entries' }]);
      const next = waiting.pop();
      if (typeof next === 'object' && next !== null) waiting.push(...someOf(next));
    }
  }
}

/** Enough members to exceed the limit, however many there are. */
function someOf(value: object): unknown[] {
  return Object.values(value).slice(0, MAX_VALUES + 1) as unknown[];
}

const UNKNOWN = 'is not recognized';
const UNKNOWN_AFTER_URL = 'is not recognized; if it is part of the URL that you send, percent-encode the URL';

/** Whether a parameter is a URL with a query: what follows its first `&` arrives as other parameters. */
function isCutUrl(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((text) => typeof text === 'string' && /^https?:\/\/[^?]*\?/i.test(text));
}

function faultsOf(issue: z.core.$ZodIssue, name: string, unknown: string): Fault[] {
  if (issue.code === 'invalid_union') {
    // Of the alternatives, the one of the value's own type says what is wrong with it.
    const meant = issue.errors.find(
      (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
    );
    const within = (found: z.core.$ZodIssue) => ({ ...found, path: [...issue.path, ...found.path] });
    if (meant !== undefined) return meant.flatMap((found) => faultsOf(within(found), name, unknown));
    const types = issue.errors.flat().map(({ message }) => message.replace(/^must be /, ''));
    return [{ field: fieldName(issue.path), message: `must be ${types.join(' or ')}` }];
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: fieldName([...issue.path, printable(key)]), message: unknown }));
  }
  return [{ field: issue.path.length === 0 ? name : fieldName(issue.path), message: issue.message }];
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : (index === 0 ? '' : '.') + String(part)))
    .join('');
}

/** A name that the client made up, for a message: shortened and without control characters. */
export function printable(key: string): string {
  return key.replace(/\p{C}/gu, '?').slice(0, 50);
}

/**
 * For routes without query parameters: refuses all, so that a client learns that its parameter has no effect.
 *
 * @throws ApiError invalid_request that names them
 */
export const refuseParameters: RequestHandler = (request, _response, next) => {
  refuseFaults(Object.keys(request.query).map((name) => ({ field: printable(name), message: 'is not recognized' })));
  next();
};

/**
 * Says in plain words what is wrong with a value, where its schema does not say it: no text of the validator itself
 * reaches a client. Pass it as the `error` of a parse.
 */
export function validationMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeName(String(issue.expected))}`;
    case 'invalid_value':
      return `must be ${(issue.values as unknown[]).map(String).join(' or ')}`;
    case 'too_small':
      return `must ${boundOf(issue, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${boundOf(issue, 'at most', Number(issue.maximum))}`;
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'unrecognized_keys':
      return 'has unknown fields';
    default:
      return 'has an invalid format';
  }
}

function boundOf({ origin }: z.core.$ZodRawIssue, how: string, bound: number): string {
  if (origin === 'string') return `have ${how} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `have ${how} ${bound} ${bound === 1 ? 'entry' : 'entries'}`;
  return `be ${how} ${bound}`;
}

function typeName(expected: string): string {
  if (expected === 'array') return 'a list';
  if (expected === 'boolean') return 'true or false';
  if (expected === 'object' || expected === 'record') return 'a JSON object';
  if (expected === 'int') return 'a whole number';
  // Express parses a repeated query parameter as a list.
  return expected === 'string' ? 'a single string' : `a ${expected}`;
}

/** Every request fails while an engine is unreachable, so one line a minute covers them all. */
const OUTAGE_LOG_MS = 60_000;

/**
 * Turns any thrown value into the error envelope. An unexpected error is logged in full, and the client gets only the
 * request id: no message, no stack.
 *
 * @param baseUrl of the API, without a trailing slash
 */
export function createErrorHandler(logger: Logger, baseUrl: string): ErrorRequestHandler {
  let outageLoggedAt = Number.NEGATIVE_INFINITY;
  const logOutage = (error: unknown) => {
    const engine = unavailableEngine(error);
    if (engine === undefined || performance.now() - outageLoggedAt < OUTAGE_LOG_MS) return;
    outageLoggedAt = performance.now();
    logger.warn({ err: error, engine }, 'an engine is unavailable: requests that need it are answered 503');
  };
  return (error: unknown, _request, response, next) => {
    if (error instanceof ClientDisconnected) return;
    const known = toApiError(error);
    const requestId = String(response.getHeader('X-Request-Id'));
    if (known === undefined) logger.error({ err: error, requestId }, 'a request failed');
    else if (known.status === OUTAGE_STATUS) logOutage(error);
    if (response.headersSent) {
      // The status was sent already: only breaking off the response tells the client.
      next(error);
      return;
    }
    const refusal = known ?? new ApiError('internal_error', `Something went wrong on our side (request ${requestId}).`);
    // HTTP requires this header on every 401; a refusal may set a better one.
    if (refusal.status === 401) response.set('WWW-Authenticate', 'Bearer');
    response.set(refusal.headers);
    if (refusal.retryAfter !== undefined) response.set('Retry-After', String(refusal.retryAfter));
    response.status(refusal.status).json(refusal.envelope(baseUrl));
  };
}

/**
 * The error that the client may see; undefined for an unexpected error, of which it learns only that something failed.
 */
export function toApiError(error: unknown): ApiError | undefined {
  return error instanceof ApiError ? error : (frameworkError(error) ?? outageError(error));
}

/** While an engine is unavailable nothing was done, unless the commit itself got no answer. */
function outageError(error: unknown): ApiError | undefined {
  if (unavailableEngine(error) === undefined) return undefined;
  if (isOutcomeUnknown(error)) {
    return engineUnavailable(
      'The service is temporarily unavailable, and it is not known whether the request took effect. GET /v1/account/ledger lists charges by request; a read or a statement is refunded.',
    );
  }
  return engineUnavailable('The service is temporarily unavailable. Nothing was charged.');
}

/** Errors that Express and its body parser throw about the client's input; undefined for all others. */
function frameworkError(error: unknown): ApiError | undefined {
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  if (error.status === 413) {
    const limit = 'limit' in error ? ` at most ${Number(error.limit) / 1024} KiB` : ' smaller';
    return new ApiError('payload_too_large', `body: must be${limit}.`);
  }
  if (error.status === 415) {
    return new ApiError('unsupported_media_type', 'body: the character set or compression is not supported.');
  }
  if (error instanceof URIError) return new ApiError('not_found', 'The path is not percent-encoded correctly.');
  if (error.status === 400) return new ApiError('invalid_request', 'body: must be complete and valid JSON.');
  return undefined;
}

/** The query and the headers together; enough for a hundred long URLs to look up. */
export const REQUEST_HEAD_BYTES = 64 * 1024;

/**
 * Refuses input that is not HTTP, too large or too slow with the error envelope, and closes the connection. Such input
 * never reaches a route, so nothing is charged.
 */
export function answerConnectionErrors(server: Server, baseUrl: string): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (request, response) => latest.set(request.socket, response));
  server.on('clientError', (error: ClientError, socket) => {
    const response = latest.get(socket);
    const isBeingAnswered = response?.headersSent === true && !response.writableFinished;
    // When the peer reset the connection, or a response is under way, nothing can be sent.
    if (error.code === 'ECONNRESET' || !socket.writable || isBeingAnswered) {
      socket.destroy();
      return;
    }
    const refusal = new ApiError('invalid_request', messageOf(error));
    const body = `${JSON.stringify(refusal.envelope(baseUrl))}\n`;
    const head = [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Cache-Control: no-store',
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
  // Without a listener Node.js would answer 417 without an envelope. `refuseProtocolErrors` refuses these requests.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
}

/** HTTP/1.1 requires exactly one Host and defines one expectation. @throws ApiError invalid_request */
export const refuseProtocolErrors: RequestHandler = (request, _response, next) => {
  const hosts = countHosts(request);
  if (hosts === 0 && request.httpVersion === '1.1') throw new ApiError('invalid_request', 'Host: is required.');
  if (hosts > 1) throw new ApiError('invalid_request', 'Host: must be given once.');
  if (!/^(?:100-continue)?$/i.test(request.headers.expect ?? '')) {
    throw new ApiError('invalid_request', 'Expect: must be 100-continue, or absent.');
  }
  next();
};

/** What Node.js reports about input that it cannot parse. */
type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

function messageOf({ code, rawPacket }: ClientError): string {
  if (code === 'HPE_INVALID_URL' || (code === 'HPE_INVALID_CONSTANT' && hasSpaceInTarget(rawPacket))) {
    return 'The URL contains a space or another character that must be percent-encoded.';
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return `The query and the headers must be at most ${REQUEST_HEAD_BYTES / 1024} KiB together.`;
  }
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? 'The request was not received completely in time.'
    : 'The request is not valid HTTP.';
}

/** Whether it begins with a request line whose target has a space. */
function hasSpaceInTarget(packet: Buffer = Buffer.of()): boolean {
  const line = packet.subarray(0, REQUEST_HEAD_BYTES).toString('latin1').split('\n', 1)[0]?.trimEnd() ?? '';
  const words = line.split(' ');
  return (
    words.length > 3 && /^[A-Z]+$/.test(words[0]!) && words[1]!.startsWith('/') && /^HTTP\/1\.[01]$/.test(words.at(-1)!)
  );
}
