import { z } from 'zod';
import { queryInteger } from './query-integer.ts';

/**
 * Query of GET /v1/monitors/{id}/matches. The service checks that a cursor fits the order and belongs to the monitor.
 */
export const matchPageQuery = z.strictObject({
  order: z.enum(['oldest', 'newest']).default('oldest').describe('Which matches come first.'),
  after: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('With `order=oldest`: the id of a match; returns the matches after it.'),
  before: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('With `order=newest`: the id of a match; returns the matches before it.'),
  limit: queryInteger(1, 200).default(100).describe('Matches per page.'),
});

export type MatchPageQuery = z.infer<typeof matchPageQuery>;
