import { ERROR_CODES, OUTAGE_STATUS } from '../../../shared/rules/error-codes.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import { refTo } from './json-schemas.ts';
import type { HeaderObject, JsonSchema, Reference, ResponseObject } from './openapi-shape.ts';

interface ErrorText {
  /** When the service answers with it. */
  when: string;
  /** What a client or its user does about it. */
  remedy: string;
  /** An example of its message. */
  message: string;
  /** Seconds to wait, for errors that name a time. */
  retryAfter?: number;
}

/** What each code means. */
export const ERROR_TEXTS: Record<ErrorCode, ErrorText> = {
  invalid_request: {
    when: 'a parameter or field is missing, unknown or invalid; the message begins with its name',
    remedy: 'Correct the parameter or field that the message names.',
    message: 'limit: must be an integer from 1 to 100',
  },
  invalid_email: {
    when: 'the address is not valid',
    remedy: 'Send an address such as `name@example.com`.',
    message: 'email: is not a valid e-mail address.',
  },
  disposable_email: {
    when: 'the address belongs to a temporary inbox',
    remedy: 'Use a permanent mailbox.',
    message: 'email: temporary inboxes are not accepted.',
  },
  undeliverable_email: {
    when: "the address's domain cannot receive mail",
    remedy: "Check the spelling of the address's domain, or use another mailbox.",
    message: 'email: the domain example.invalid cannot receive mail.',
  },
  invalid_signup_token: {
    when: 'the token is wrong or older than 10 minutes',
    remedy: 'Request a new code with `POST /api/agent/signup`, and send the token of that answer.',
    message: 'signup_token: is invalid, already used or expired. Start over with POST /api/agent/signup.',
  },
  invalid_recovery_token: {
    when: 'the token is wrong, used or older than 10 minutes',
    remedy: 'Request a new code with `POST /api/agent/recover`, and send the token of that answer.',
    message: 'recovery_token: is invalid, already used or expired. Start over with POST /api/agent/recover.',
  },
  invalid_code: {
    when: 'the code is wrong',
    remedy: 'Send the six digits of the newest mail.',
    message: 'code: is wrong; 2 tries left.',
  },
  code_expired: {
    when: 'the code is older than 10 minutes',
    remedy: 'Request a new code.',
    message: 'code: is older than 10 minutes. Start over with POST /api/agent/signup.',
  },
  too_many_attempts: {
    when: 'three wrong codes were sent',
    remedy: 'Request a new code.',
    message: 'code: three wrong codes were sent. Start over with POST /api/agent/signup.',
  },
  unauthorized: {
    when: 'the API key is missing, invalid or revoked',
    remedy: "Create a key on the dashboard's page `API keys`, or recover one with `POST /api/agent/recover`.",
    message: 'Send a valid API key as "Authorization: Bearer KEY" or "X-Api-Key: KEY".',
  },
  insufficient_credits: {
    when: 'the balance does not cover the request',
    remedy:
      "Buy a pack on the dashboard's billing page or ask the operator for credits; then resume the monitors that were paused, which do not resume by themselves.",
    message: 'The account has no credits left.',
  },
  monitor_limit_reached: {
    when: 'the account has as many monitors as its plan allows',
    remedy: 'Delete a monitor, or buy a larger pack.',
    message: 'The account has 1 of the 1 monitors that its plan allows. Delete one, or buy a larger pack.',
  },
  insufficient_scope: {
    when: 'the key lacks the permission that the route requires',
    remedy: 'Use a key with the permission that the message names; an existing key cannot be given more.',
    message: 'This key lacks the permission forum:read.',
  },
  account_frozen: {
    when: 'the operator froze the account; its data is kept',
    remedy: 'Contact the operator of the service.',
    message: 'This account is frozen. Contact the operator of the service.',
  },
  forum_refused: {
    when: 'the forum does not show this to logged-out readers; the message says why (private, quarantined, for paying members)',
    remedy: 'Read something else: no key and no retry changes this answer.',
    message: 'The forum does not show this to logged-out readers: it is private.',
  },
  not_found: {
    when: 'what you asked for does not exist, or there is no such route',
    remedy: 'Check the id or the path, and that the key belongs to the account that owns what you ask for.',
    message: 'The forum has no such community.',
  },
  method_not_allowed: {
    when: 'the path does not support this method; `Allow` lists the methods it supports',
    remedy: 'Use a method that `Allow` lists.',
    message: 'PUT is not allowed here. Use GET, HEAD.',
  },
  not_acceptable: {
    when: 'the `Accept` header allows no type that the route can send',
    remedy: 'Leave out the `Accept` header, or allow the type that the message names.',
    message: 'Accept: must allow application/json.',
  },
  account_exists: {
    when: 'the mailbox already has an account; no key is issued',
    remedy: 'Recover a key with `POST /api/agent/recover`, or sign in to the dashboard.',
    message:
      'This mailbox already has an account. To get a key, use POST /api/agent/recover with the address of that account.',
  },
  idempotency_conflict: {
    when: 'the `Idempotency-Key` was used with another body within 24 hours',
    remedy: 'Use a new `Idempotency-Key` for a different body.',
    message: 'Idempotency-Key: was already used with a different body in the last 24 hours. Use a new key.',
  },
  backfill_running: {
    when: 'a backfill of this monitor is running',
    remedy: 'Wait until the running backfill ends, or cancel it.',
    message: 'A backfill of this monitor is already running. Wait for it to finish, or cancel it.',
  },
  payload_too_large: {
    when: 'the body is larger than 128 KiB (of sign-up: 4 KiB)',
    remedy: 'Send a smaller body, in several requests if need be.',
    message: 'body: must be at most 128 KiB.',
  },
  unsupported_media_type: {
    when: 'the body is not JSON, or its character set or compression is not supported',
    remedy: 'Send JSON in UTF-8 with `Content-Type: application/json`.',
    message: 'Send the body as JSON, with "Content-Type: application/json".',
  },
  rate_limited: {
    when: 'the account sent too many requests or too many requests that queried the forum and failed, or has too many open streams; for sign-up: too many codes for this network or mailbox',
    remedy: 'Wait `retry_after` seconds, and send fewer requests at once.',
    message: 'Too many requests: the limit is 1 a second.',
    retryAfter: 1,
  },
  daily_limit_reached: {
    when: 'an account without a pack has used up its daily limit; it resets at 00:00 UTC',
    remedy: 'Wait until 00:00 UTC, or buy any pack, which removes this limit.',
    message:
      'You have used all 100 requests for today (UTC). Any credit pack removes this limit: ask the operator for one.',
    retryAfter: 18_000,
  },
  internal_error: {
    when: 'something went wrong on our side; nothing was charged',
    remedy: 'Send the request again; if it keeps failing, give the operator the `X-Request-Id` of the answer.',
    message: 'Something went wrong on our side (request 6b8f0c1e-3a52-4a0e-9f5d-0d6c1f3b7a90).',
  },
  email_failed: {
    when: 'the mail with the code could not be sent',
    remedy: 'Request the code again after `retry_after` seconds.',
    message: 'The code could not be mailed. Try again later.',
    retryAfter: 60,
  },
  agent_signup_busy: {
    when: 'sign-up is paused for a while because of too many sign-ups',
    remedy: 'Sign up again after `retry_after` seconds.',
    message: 'Sign-up is busy. Try again later.',
    retryAfter: 600,
  },
  agent_signup_disabled: {
    when: 'sign-up is disabled on this installation',
    remedy: 'Ask the operator for an account.',
    message: 'Sign-up is disabled.',
  },
  service_unavailable: {
    when: 'too many of these requests are running; nothing was charged',
    remedy: 'Wait `retry_after` seconds, and send the request again.',
    message: 'Too many of these are running. Try again shortly.',
    retryAfter: 5,
  },
  upstream_busy: {
    when: 'the forum is not accepting more requests at the moment, or the share for readers is used up',
    remedy: 'Wait `retry_after` seconds, and send the request again.',
    message: 'The forum is not accepting more requests at the moment. Try again shortly.',
    retryAfter: 1,
  },
  upstream_timeout: {
    when: 'the forum did not respond in time',
    remedy: 'Wait `retry_after` seconds, and send the request again.',
    message: 'The forum did not respond in time. Try again shortly.',
    retryAfter: 5,
  },
  upstream_error: {
    when: 'the forum could not be read',
    remedy: 'Wait `retry_after` seconds, and send the request again.',
    message: 'The forum could not be read. Try again shortly.',
    retryAfter: 5,
  },
};

/** Of internal_error with OUTAGE_STATUS. */
const OUTAGE: ErrorText = {
  when: 'a part of this service is temporarily unavailable; nothing was charged',
  remedy: 'Wait `retry_after` seconds, and send the request again.',
  message: 'The service is temporarily unavailable. Nothing was charged.',
  retryAfter: 5,
};

const TITLES: Record<number, string> = {
  400: 'Invalid request',
  401: 'Missing or invalid API key',
  402: 'Not enough credits',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  409: 'Conflict',
  413: 'Body too large',
  415: 'Unsupported body type',
  429: 'Too many requests',
  500: 'Internal error',
  502: 'Mail failed',
  503: 'Temporarily unavailable',
};

/** A route's responses by status, and the components they refer to, by name. */
export interface ErrorResponses {
  responses: Record<string, Reference>;
  components: Record<string, ResponseObject>;
}

/**
 * Responses for these codes: one per status, which lists the codes that the route can answer with it.
 *
 * @param isPublic whether the route needs no key, so that its answers have no account headers
 */
export function errorResponsesOf(codes: readonly ErrorCode[], isPublic = false): ErrorResponses {
  const found: ErrorResponses = { responses: {}, components: {} };
  for (const status of new Set(codes.flatMap(statusesOf))) {
    // In the order of the code table, so that equal sets get equal names.
    const ofStatus = ERROR_NAMES.filter((code) => statusesOf(code).includes(status) && codes.includes(code));
    const name = (isPublic ? 'Public' : '') + ofStatus.map((code) => nameOf(status, code)).join('Or');
    found.responses[status] = { $ref: `#/components/responses/${name}` };
    found.components[name] = errorResponse(status, ofStatus, isPublic);
  }
  return found;
}

const ERROR_NAMES = Object.keys(ERROR_CODES) as ErrorCode[];

/** The statuses that a code is answered with. */
export function statusesOf(code: ErrorCode): number[] {
  const { status } = ERROR_CODES[code];
  return code === 'internal_error' ? [status, OUTAGE_STATUS] : [status];
}

function nameOf(status: number, code: ErrorCode): string {
  return status === OUTAGE_STATUS && code === 'internal_error' ? 'Outage' : pascalCase(code);
}

/** What a code means with this status. */
export function textOf(status: number, code: ErrorCode): ErrorText {
  return status === OUTAGE_STATUS && code === 'internal_error' ? OUTAGE : ERROR_TEXTS[code];
}

function errorResponse(status: number, codes: readonly ErrorCode[], isPublic: boolean): ResponseObject {
  const waits = codes.every((code) => textOf(status, code).retryAfter !== undefined);
  return {
    description: `${TITLES[status] ?? 'Error'}. ${codes.map((code) => `\`${code}\`: ${textOf(status, code).when}.`).join(' ')}`,
    headers: headersOf(errorHeaders(status, { waits, isPublic })),
    content: {
      'application/json': {
        schema: refTo('Error'),
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(status, code) }])),
      },
    },
    'x-error-codes': [...codes],
  };
}

function exampleOf(status: number, code: ErrorCode): object {
  const { message, retryAfter } = textOf(status, code);
  const { retryable } = ERROR_CODES[code];
  const documented = `https://api.example.com/docs/reference/errors#${code}`;
  const wait = retryAfter === undefined ? {} : { retry_after: retryAfter };
  return { error: { code, message, doc_url: documented, retryable, ...wait } };
}

function errorHeaders(status: number, { waits, isPublic }: { waits: boolean; isPublic: boolean }): HeaderUse[] {
  // A request whose key could not be checked belongs to no account. A frozen account has no limits.
  const optional = [401, 403, 500, 503].includes(status);
  return [
    { name: 'X-Request-Id' },
    ...(isPublic ? [] : ACCOUNT_HEADERS.map((name): HeaderUse => ({ name, optional }))),
    ...(waits ? [{ name: 'Retry-After' } as const] : []),
    ...(status === 405 ? [{ name: 'Allow' } as const] : []),
    ...(status === 401 ? [{ name: 'WWW-Authenticate' } as const] : []),
  ];
}

function pascalCase(code: string): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const integer = { type: 'integer', minimum: 0 };

const HEADERS = {
  'X-Request-Id': {
    description:
      'Identifies this request in our logs. It is the value that the client sent, if that has 1 to 64 letters, digits, `.`, `_` or `-`.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'X-Credits-Remaining': { description: 'The balance of the account after this request.', schema: integer },
  'RateLimit-Policy': {
    description:
      'The limits of the account: `"burst"` and, without a pack, `"day"`, each with its quota `q` in a window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'What is left of each limit: `r` requests now, all of them again in `t` seconds.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true`: this is the answer to the first request with this `Idempotency-Key`.',
    schema: { type: 'string' },
  },
  Link: { description: 'The next page, as `rel="next"`.', schema: { type: 'string' } },
  'X-Credits-Used': { description: 'What this request cost.', schema: integer },
  'X-Cache-Tier': {
    description:
      'Where the answer came from: `L1_TINYLFU` and `L1_LISTING`: the memory of this service; `L2_BADGER`: its disk; `PARTIAL`: a cached post, with further comments fetched from the forum for this request; `MISS`: the forum, or for a search of comments the archive.',
    schema: { type: 'string' },
  },
  Age: {
    description:
      'Seconds since the forum was read for this answer. Above the usual minute or ten: the forum could not be reached, or took no more calls, and this is an older copy.',
    schema: integer,
  },
  'X-Comments-Returned': { description: 'The number of comments in this answer.', schema: integer },
  'X-Has-More': { description: 'Whether a larger `max_comments` would return more.', schema: { type: 'boolean' } },
  'Retry-After': {
    description: 'Seconds until a retry makes sense; equals `retry_after` in the body.',
    schema: integer,
  },
  Allow: { description: 'The methods that this path supports.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
  'Last-Modified': { description: 'When it last changed.', schema: { type: 'string' } },
  ETag: { description: 'Identifies this version of the document.', schema: { type: 'string' } },
} as const satisfies Record<string, { description: string; schema: JsonSchema }>;

export type HeaderName = keyof typeof HEADERS;

/** Present on every answer to a request with a valid key. */
export const ACCOUNT_HEADERS = ['X-Credits-Remaining', 'RateLimit-Policy', 'RateLimit'] as const;

/** A header of a response. */
export interface HeaderUse {
  name: HeaderName;
  /** Whether some answers of this kind lack it. */
  optional?: boolean;
  /** The possible values here, when they are fewer than in general. */
  values?: readonly string[];
}

/** The headers that responses refer to, always present where they are listed. */
export function headerComponents(): Record<string, HeaderObject> {
  return Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [name, { ...header, required: true }]));
}

export function headersOf(uses: readonly HeaderUse[]): Record<string, HeaderObject | Reference> {
  return Object.fromEntries(uses.map((use) => [use.name, headerOf(use)]));
}

function headerOf({ name, optional = false, values }: HeaderUse): HeaderObject | Reference {
  if (!optional && values === undefined) return { $ref: `#/components/headers/${name}` };
  const { description, schema } = HEADERS[name];
  return { description, required: !optional, schema: { ...schema, ...(values === undefined ? {} : { enum: values }) } };
}
