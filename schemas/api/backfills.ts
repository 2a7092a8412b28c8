import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';
import { queryTime } from './common.ts';

export const backfillState = z
  .enum(['running', 'cancelling', 'done', 'stopped_balance', 'stopped_credits', 'stopped_limit', 'cancelled', 'failed'])
  .meta({
    description:
      '`running`: queued or in progress. `cancelling`: cancelled, ends within seconds; nothing more is recorded. `done`: everything was recorded. The other states ended early, with more to find. `stopped_balance`: the account ran out of credits. `stopped_credits`: `max_credits` was reached. `stopped_limit`: 50,000 matches were recorded. `cancelled`: it was cancelled, or the account was frozen. `failed`: it was given up after errors on our side. Start another run for the rest: what is already recorded is not charged again.',
  });

/** A run of a backfill in responses. */
export const backfill = z
  .strictObject({
    id: z.string().meta(example('bf_5t8w1z4c7f0j')),
    state: backfillState,
    from: timestamp
      .describe('Posts and comments first seen at this time or later. Cannot reach further back than the archive.')
      .meta(example('2026-02-25T10:00:00.000Z')),
    to: timestamp.describe('Posts and comments first seen before this.'),
    deliver: z.boolean(),
    max_credits: z.number().int().min(1).nullable(),
    scanned_to: timestamp
      .nullable()
      .describe('Everything first seen before this time has been checked. null: the run is queued.')
      .meta(example('2026-02-27T22:12:00.000Z')),
    share: z
      .number()
      .min(0)
      .max(1)
      .describe('How much of the time between `from` and `to` has been checked.')
      .meta(example(0.36)),
    matches: count.describe('Matches recorded by the run.').meta(example(612)),
    delivered: count.describe('How many of them are sent to the webhook.').meta(example(0)),
    already_known: count.describe('Items that match but were already matches of the monitor; free.'),
    credits: count.describe('Credits charged so far: 1 per 100 matches, rounded up.').meta(example(7)),
    started_at: timestamp.describe('When the run was requested.'),
    ended_at: timestamp.nullable().meta(example(null)),
  })
  .meta({ id: 'Backfill' });

export type Backfill = z.infer<typeof backfill>;

/** Response of POST /v1/monitors/{id}/backfill. */
export const backfillAnswer = z.strictObject({ backfill }).meta({ id: 'BackfillAnswer' });

/** Response of GET /v1/monitors/{id}/backfill. */
export const backfillList = z
  .strictObject({ items: z.array(backfill).describe('The newest 20, newest first.') })
  .meta({ id: 'BackfillList' });

/** Member of the body of POST /v1/monitors. */
export const backfillHours = z
  .number()
  .int()
  .min(1)
  .max(720)
  .describe(
    'Also find matches of the last hours, with a backfill. Costs 1 credit per 100 matches, rounded up, in addition to the price of the monitor.',
  );

/** Body of POST /v1/monitors/{id}/backfill. The service compares the times. */
export const startBackfillBody = z
  .strictObject({
    from: queryTime.describe('How far back to look; at most 30 days.').meta(example('2026-02-25T10:00:00.000Z')),
    to: queryTime.optional().describe('Default: now. Must not be in the future.'),
    deliver: z
      .boolean()
      .default(false)
      .describe(
        "Also send the matches to the webhook, as far as today's daily cap allows; they count as matches of today. Each match is sent on its own, even if the monitor has a digest.",
      ),
    max_credits: z
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe('The most that the run may cost. It stops before a match that would cost more.')
      .meta(example(20)),
  })
  .meta({ id: 'StartBackfill' });
