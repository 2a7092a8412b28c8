import { z } from 'zod';
import { timestamp } from './forum-item.ts';
import { monitorMatch } from './monitor-match.ts';

const monitor = z.strictObject({ id: z.string(), name: z.string() });
/** Unix seconds. */
const sentAt = z.number().int().min(0);

/** An hour with far more matches than the same hour usually has. */
export const spike = z.strictObject({
  /** The beginning of the hour. */
  at: timestamp,
  interval: z.literal('hour'),
  count: z.number().int().min(0),
  /** The median of the same hour of the day on earlier days. */
  expected: z.number().min(0),
  /** How far above it is, in scales of the usual differences. */
  score: z.number(),
  /** Absent: of all keywords together. */
  keyword: z.string().optional(),
});

export type Spike = z.infer<typeof spike>;

/** Body of a webhook about a spike, to a generic endpoint. A repeated delivery has the same event id in its headers. */
export const spikeEvent = z
  .strictObject({
    type: z.literal('monitor.spike'),
    monitor,
    spike: spike.describe(
      '`at`: the beginning of the hour. `count`: its matches. `expected`: what that hour of the day usually has. `score`: how far above that it is, in scales of the usual differences. `keyword`: absent when all keywords are meant together.',
    ),
    sent_at: sentAt.describe('The time of the attempt in Unix seconds.'),
  })
  .meta({ id: 'SpikeEvent' });

export type SpikeEvent = z.infer<typeof spikeEvent>;

/** Matches that are sent together. */
export const digest = z.strictObject({
  interval: z.enum(['hourly', 'daily']),
  /** All matches of this digest. */
  count: z.number().int().min(1),
  /** The first of them, oldest first; at most 100. */
  matches: z.array(monitorMatch).max(100),
  /** How many are not in `matches`. */
  more: z.number().int().min(0),
  /** The page with all of them. */
  url: z.string(),
});

export type Digest = z.infer<typeof digest>;

/** Body of a webhook with a digest, to a generic endpoint. */
export const digestEvent = z
  .strictObject({
    type: z.literal('monitor.digest'),
    monitor,
    digest: digest.describe(
      '`count`: all matches of this digest. `matches`: the first of them, oldest first, as they are now; what the forum removed is blank. `more`: how many are not among them. `url`: the page with all of them, for people who are signed in.',
    ),
    sent_at: sentAt.describe('The time of the attempt in Unix seconds.'),
  })
  .meta({ id: 'DigestEvent' });

export type DigestEvent = z.infer<typeof digestEvent>;

/** Body of a webhook to a generic endpoint, one per match. A repeated delivery has the same match id. */
export const webhookEvent = z
  .strictObject({
    type: z.literal('monitor.match').describe('Ignore events of other types: later versions may send them.'),
    monitor: z.strictObject({ id: z.string(), name: z.string() }),
    match: monitorMatch.describe('The match. A repeated delivery has the same `id`.'),
    sent_at: z.number().int().min(0).describe('The time of the attempt in Unix seconds.'),
  })
  .meta({ id: 'WebhookEvent' });

export type WebhookEvent = z.infer<typeof webhookEvent>;
