import { z } from 'zod';

/** The body of every error response. `code` is one of those in shared/domain/error-codes.ts. */
export const errorEnvelope = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    /** For people. Starts with the name of the wrong field or parameter, if there is one. */
    message: z.string(),
    /** Whether the same request may succeed later. */
    retryable: z.boolean(),
    /** Seconds; the same value as the Retry-After header. */
    retry_after: z.number().int().min(0).optional(),
    /** Where the fault is in the query of POST /v1/monitors/parse, in UTF-16 code units; its length at its end. */
    position: z.number().int().min(0).optional(),
  }),
});

export type ErrorEnvelope = z.infer<typeof errorEnvelope>;
