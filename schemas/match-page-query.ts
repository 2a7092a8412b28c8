import { z } from 'zod';

const LARGEST_PAGE = 200;

/** Query of GET /v1/monitors/{id}/matches. Whether a cursor fits the order and the monitor is decided by the service. */
export const matchPageQuery = z.strictObject({
  order: z.enum(['oldest', 'newest']).default('oldest'),
  after: z.string().min(1, 'must not be empty').optional(),
  before: z.string().min(1, 'must not be empty').optional(),
  limit: z
    .string()
    .regex(/^([1-9]|[1-9]\d|1\d\d|200)$/, `must be an integer from 1 to ${LARGEST_PAGE}`)
    .transform(Number)
    .default(100),
});

export type MatchPageQuery = z.infer<typeof matchPageQuery>;
