import { z } from 'zod';

const LARGEST_PAGE = 200;

/** Query of GET /v1/monitors/{id}/matches. Whether a cursor fits the order and the monitor is decided by the service. */
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
  limit: z
    .string()
    .regex(/^([1-9]|[1-9]\d|1\d\d|200)$/, `must be an integer from 1 to ${LARGEST_PAGE}`)
    .transform(Number)
    .meta({ type: 'integer', minimum: 1, maximum: LARGEST_PAGE })
    .default(100)
    .describe('Matches a page.'),
});

export type MatchPageQuery = z.infer<typeof matchPageQuery>;
