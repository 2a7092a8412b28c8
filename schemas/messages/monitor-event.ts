import { z } from 'zod';
import { count, example, timestamp } from './forum-item.ts';
import { monitorId, monitorMatch } from './monitor-match.ts';

export const monitorName = z.string().meta(example('French press'));
const monitor = z.strictObject({ id: monitorId, name: monitorName });
/** Unix seconds. */
const sentAt = count.meta(example(1_772_619_667));

/** An hour with far more matches than the same hour usually has. */
export const spike = z
  .strictObject({
    /** The beginning of the hour. */
    at: timestamp,
    interval: z.literal('hour'),
    count: count,
    /** The median of the same hour of the day on earlier days. */
    expected: z.number().min(0),
    /** How far above it is, in scales of the usual differences. */
    score: z.number(),
    /** Absent: of all keywords together. */
    keyword: z.string().optional(),
  })
  .meta(example({ at: '2026-03-04T09:00:00.000Z', interval: 'hour', count: 57, expected: 4, score: 11.2 }));

export type Spike = z.infer<typeof spike>;

/** Body of a webhook about a spike, to a generic endpoint. A repeated delivery has the same event id in its headers. */
export const spikeEvent = z
  .strictObject({
    type: z.literal('monitor.spike'),
    monitor,
    spike: spike.describe(
      '`at`: the start of the hour. `count`: its matches. `expected`: the usual number for that hour of the day. `score`: how far above the usual number it is, as a multiple of the usual deviation. `keyword`: absent when the spike is about all keywords together.',
    ),
    sent_at: sentAt.describe('When the attempt was made, in Unix seconds.'),
  })
  .meta({ id: 'SpikeEvent' });

export type SpikeEvent = z.infer<typeof spikeEvent>;

/** Matches that are sent together. */
export const digest = z.strictObject({
  interval: z.enum(['hourly', 'daily']),
  /** All matches of this digest. */
  count: z.number().int().min(1).meta(example(1)),
  /** The first of them, oldest first; at most 100. */
  matches: z.array(monitorMatch).max(100),
  /** How many are not in `matches`. */
  more: count.meta(example(0)),
  /** The page with all of them. */
  url: z.string().meta(example('https://forum.example.com/dashboard/monitors/mon_3k7m2q9x4t8v')),
});

export type Digest = z.infer<typeof digest>;

/** Body of a webhook with a digest, to a generic endpoint. */
export const digestEvent = z
  .strictObject({
    type: z.literal('monitor.digest'),
    monitor,
    digest: digest.describe(
      '`count`: the number of matches in this digest. `matches`: the first of them, oldest first, in their current state; what the forum removed is blank. `more`: how many others there are. `url`: the page with all of them, for people who are signed in.',
    ),
    sent_at: sentAt.describe('When the attempt was made, in Unix seconds.'),
  })
  .meta({ id: 'DigestEvent' });

export type DigestEvent = z.infer<typeof digestEvent>;

/** Body of a webhook to a generic endpoint, one per match. A repeated delivery has the same match id. */
export const webhookEvent = z
  .strictObject({
    type: z.literal('monitor.match').describe('Ignore events of other types: later versions may add some.'),
    monitor,
    match: monitorMatch.describe('The match. Repeated deliveries have the same `id`.'),
    sent_at: sentAt.describe('When the attempt was made, in Unix seconds.'),
  })
  .meta({ id: 'WebhookEvent' });

export type WebhookEvent = z.infer<typeof webhookEvent>;
