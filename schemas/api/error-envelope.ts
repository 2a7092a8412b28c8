import { z } from 'zod';

/** The body of every error response. `code` is one of those in shared/domain/error-codes.ts. */
export const errorEnvelope = z
  .strictObject({
    error: z
      .strictObject({
        code: z.string(),
        /** For people. Starts with the name of the wrong field or parameter, if there is one. */
        message: z.string(),
        /** Whether the same request may succeed later. */
        retryable: z.boolean(),
        /** Seconds; the same value as the Retry-After header. */
        retry_after: z.number().int().min(0).optional(),
        /** Where the fault is in the query of POST /v1/monitors/parse, in UTF-16 code units; its length at its end. */
        position: z.number().int().min(0).optional(),
      })
      .describe(
        '`code`: one of those of the answer. `message`: for people; it begins with the name of the wrong field, if there is one. `retryable`: whether the same request may succeed later. `retry_after`: in how many seconds, as in `Retry-After`. `position`: only for the query of `POST /v1/monitors/parse`; where the fault is, in UTF-16 code units from 0.',
      ),
  })
  .meta({ id: 'Error' });

export type ErrorEnvelope = z.infer<typeof errorEnvelope>;
