import { z } from 'zod';

/** The body of every answer that is not a success. `code` is one of shared/domain/error-codes.ts. */
export const errorEnvelope = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    /** For people. Begins with the name of the field or parameter where one is at fault. */
    message: z.string(),
    /** Whether the same request may succeed later. */
    retryable: z.boolean(),
    /** Seconds; equals the Retry-After header. */
    retry_after: z.number().int().min(0).optional(),
  }),
});

export type ErrorEnvelope = z.infer<typeof errorEnvelope>;
