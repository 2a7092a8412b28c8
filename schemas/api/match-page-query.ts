import { z } from 'zod';
import { queryInteger } from './query-integer.ts';

/**
 * Query of GET /v1/monitors/{id}/matches. Whether a cursor fits the order and the monitor is decided by the service.
 */
export const matchPageQuery = z.strictObject({
  order: z.enum(['oldest', 'newest']).default('oldest').describe('Which matches come first.'),
  after: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('With `order=oldest`: the id of a match; those after it are returned.'),
  before: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('With `order=newest`: the id of a match; those before it are returned.'),
  limit: queryInteger(1, 200).default(100).describe('Matches a page.'),
});

export type MatchPageQuery = z.infer<typeof matchPageQuery>;
