import { z } from 'zod';

/** The body of every error response. `code` is one of those in shared/rules/error-codes.ts. */
export const errorEnvelope = z
  .strictObject({
    error: z
      .strictObject({
        code: z.string(),
        /** For people. Starts with the name of the wrong field or parameter, if there is one. */
        message: z.string(),
        /** The entry of the code in the documentation. */
        doc_url: z.url(),
        /** Whether the same request may succeed later. */
        retryable: z.boolean(),
        /** Seconds; the same value as the Retry-After header. */
        retry_after: z.number().int().min(0).optional(),
        /** Where the fault is in the query of POST /v1/monitors/parse, in UTF-16 code units; its length at its end. */
        position: z.number().int().min(0).optional(),
      })
      .describe(
        '`code`: the kind of error, for programs. `message`: for people; if a field is wrong, it begins with the name of the field. `doc_url`: what the code means. `retryable`: whether the same request may succeed later. `retry_after`: after how many seconds, as in `Retry-After`. `position`: only for the query of `POST /v1/monitors/parse`; where the error is, in UTF-16 code units from 0.',
      ),
  })
  .meta({ id: 'Error' });

export type ErrorEnvelope = z.infer<typeof errorEnvelope>;

const MAX_NAME_LENGTH = 200;

/**
 * A text that the database can store unchanged: it cannot store NUL, and would return half of a surrogate pair as
 * another character.
 */
export const storableString = z
  .string()
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must not contain NUL or half of a surrogate pair');

/** A name that a user gives to something. */
export const givenName = storableString
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')
  // The same rule in syntax that every JSON Schema validator supports.
  .meta({ pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]*$` });

/** A community in a query, with or without `r/`. Parsed: without. */
export const communityName = z
  .string()
  .trim()
  .transform((name) => name.replace(/^\/?r\//i, '').replace(/\/$/, ''))
  .pipe(z.string().regex(/^(?:[A-Za-z0-9]\w{1,20}|u_[\w-]{3,20})$/, 'must be the name of a community'))
  .meta({
    pattern: '^(?:/?r/)?(?:[A-Za-z0-9]\\w{1,20}|u_[\\w-]{3,20})$',
    description: 'A community, with or without `r/`.',
  });

/**
 * An integer in a query string. `meta` gives the OpenAPI document the type and bounds, which the text schema does not
 * show.
 */
export function queryInteger(min: number, max: number) {
  const fault = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,4}$/, fault)
    .transform(Number)
    .pipe(z.number().min(min, fault).max(max, fault))
    .meta({ type: 'integer', minimum: min, maximum: max });
}

const TIME = {
  offset: true,
  error: 'must be an ISO 8601 date and time with its offset, for instance 2026-03-04T10:00:00Z',
} as const;

/** The year 0, and offsets of 16 hours and more, which the database cannot read. */
const UNSUPPORTED = /^0000|[+-](?:1[6-9]|2\d):\d\d$/;

/** A time in a query or body: ISO 8601 with its offset. */
export const queryTime = z.iso.datetime(TIME).refine((text) => !UNSUPPORTED.test(text), TIME.error);
