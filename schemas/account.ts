import { z } from 'zod';
import { timestamp } from './forum-item.ts';

/** Answer of GET /v1/account. */
export const account = z.strictObject({
  id: z.string(),
  email: z.string(),
  /** Credits. */
  balance: z.number().int().min(0),
  /** free, or the largest pack bought. */
  plan: z.enum(['free', 'pack_9', 'pack_29', 'pack_79']),
  limits: z.strictObject({
    monitors: z.number().int(),
    /** Per monitor and UTC day. */
    daily_match_cap: z.number().int(),
    requests_per_second: z.number().int(),
    request_burst: z.number().int(),
    /** null: no daily limit. */
    requests_per_day: z.number().int().nullable(),
  }),
  created_at: timestamp,
});

export type Account = z.infer<typeof account>;
