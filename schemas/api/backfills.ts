import { z } from 'zod';
import { count, example, timestamp } from '../messages/forum-item.ts';
import { queryTime } from './common.ts';

export const backfillState = z
  .enum(['running', 'cancelling', 'done', 'stopped_balance', 'stopped_credits', 'stopped_limit', 'cancelled', 'failed'])
  .meta({
    description:
      '`running`: waits or works. `cancelling`: it is cancelled and ends within seconds; nothing more is recorded. `done`: all of it is recorded. It ended before its end, with more to find: `stopped_balance`: the credits of the account were used up; `stopped_credits`: `max_credits`; `stopped_limit`: 50,000 matches. `cancelled`: it was cancelled, or the account was frozen. `failed`: given up after errors of the service. Start another run for the rest: what is recorded already costs nothing again.',
  });

/** A run of a backfill in responses. */
export const backfill = z
  .strictObject({
    id: z.string().meta(example('bf_5t8w1z4c7f0j')),
    state: backfillState,
    from: timestamp
      .describe('Posts and comments first seen from here on. An earlier time than the archive is cut.')
      .meta(example('2026-02-25T10:00:00.000Z')),
    to: timestamp.describe('Posts and comments first seen before this.'),
    deliver: z.boolean(),
    max_credits: z.number().int().min(1).nullable(),
    scanned_to: timestamp
      .nullable()
      .describe('What was first seen before is decided. null: the run waits for its turn.')
      .meta(example('2026-02-27T22:12:00.000Z')),
    share: z
      .number()
      .min(0)
      .max(1)
      .describe('How much of the time between `from` and `to` is scanned.')
      .meta(example(0.36)),
    matches: count.describe('Matches that it recorded.').meta(example(612)),
    delivered: count.describe('Of these, those that are sent to the webhook.').meta(example(0)),
    already_known: count.describe('Posts and comments that match and were matches of the monitor before; free.'),
    credits: count.describe('What it cost so far: 1 for each started 100 matches.').meta(example(7)),
    started_at: timestamp.describe('When it was asked for.'),
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
    'Also find what matched in these last hours: a backfill runs, for 1 credit for each started 100 matches besides the price of the monitor.',
  );

/** Body of POST /v1/monitors/{id}/backfill. The service compares the times. */
export const startBackfillBody = z
  .strictObject({
    from: queryTime
      .describe('How far back to look; at most 30 days, earlier times are cut.')
      .meta(example('2026-02-25T10:00:00.000Z')),
    to: queryTime.optional().describe('Absent: now. It must not be in the future.'),
    deliver: z
      .boolean()
      .default(false)
      .describe(
        'Send the matches to the webhook too, as many as the daily cap leaves today; they then count as matches of today. Each is sent by itself, also when the monitor has a digest.',
      ),
    max_credits: z
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe('The most that it may cost: it stops before a match that would cost more.')
      .meta(example(20)),
  })
  .meta({ id: 'StartBackfill' });
