import { z } from 'zod';

/** Query of GET /v1/monitors/{id}/stream. The service checks that the id belongs to this monitor. */
export const liveTailQuery = z.strictObject({
  after: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe(
      'The id of a match: the stream starts with the match after it. Without it, the stream starts with the next recorded match. `Last-Event-ID` takes precedence.',
    ),
});

/** Why the server ended a stream permanently. `session_ended` is only said to pages of the dashboard. */
export type LiveTailEnd = 'monitor_deleted' | 'key_revoked' | 'session_ended' | 'account_frozen' | 'account_deleted';
