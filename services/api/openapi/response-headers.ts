import type { HeaderObject, JsonSchema, Reference } from './openapi-shape.ts';

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
