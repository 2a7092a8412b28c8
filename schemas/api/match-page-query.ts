import { z } from 'zod';
import { communityName } from './community-name.ts';
import { storableString } from './given-name.ts';
import { queryInteger } from './query-integer.ts';
import { queryTime } from './query-time.ts';

/** Longer than any keyword. */
const MAX_KEYWORD_LENGTH = 200;

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
  since: queryTime
    .optional()
    .describe('Only matches recorded (`created_at`) at this time or later. A filtered page may be empty.'),
  until: queryTime.optional().describe('Only matches recorded before this time.'),
  keyword: storableString
    .min(1, 'must not be empty')
    .max(MAX_KEYWORD_LENGTH, 'is too long')
    .optional()
    .describe('Only matches with this text among their `matched_terms`, exactly as written there.'),
  subreddit: communityName.optional().describe('Only matches in this community, with or without `r/`, in any case.'),
  limit: queryInteger(1, 200).default(100).describe('Matches per page.'),
});

export type MatchPageQuery = z.infer<typeof matchPageQuery>;
