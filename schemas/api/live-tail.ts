import { z } from 'zod';

/** Query of GET /v1/monitors/{id}/stream. Whether the id is of this monitor is decided by the service. */
export const liveTailQuery = z.strictObject({
  after: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe(
      'The id of a match: the stream begins with the next one. Absent: with the next that is recorded. `Last-Event-ID` counts more.',
    ),
});

/** Why a stream ended for good. */
export type LiveTailEnd = 'monitor_deleted' | 'key_revoked' | 'account_frozen' | 'account_deleted';
