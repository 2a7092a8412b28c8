import { z } from 'zod';
import { example, itemContent, timestamp } from '../messages/forum-item.ts';
import { monitorName } from '../messages/monitor-event.ts';
import { matchId } from '../messages/monitor-match.ts';
import { communityName, queryInteger, queryTime, storableString } from './common.ts';

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
    .describe('With `order=oldest`: a match id; returns the matches after it.'),
  before: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('With `order=newest`: a match id; returns the matches before it.'),
  since: queryTime
    .optional()
    .describe('Only matches recorded (`created_at`) at this time or later. A filtered page may be empty.'),
  until: queryTime.optional().describe('Only matches recorded before this time.'),
  keyword: storableString
    .min(1, 'must not be empty')
    .max(MAX_KEYWORD_LENGTH, 'is too long')
    .optional()
    .describe('Only matches that have exactly this text in `matched_terms`.'),
  subreddit: communityName
    .optional()
    .describe('Only matches in this community, with or without `r/`; case does not matter.'),
  limit: queryInteger(1, 200).default(100).describe('Matches per page.'),
});

export type MatchPageQuery = z.infer<typeof matchPageQuery>;

/** Query of GET /v1/monitors/{id}/stream. The service checks that the id belongs to this monitor. */
export const liveTailQuery = z.strictObject({
  after: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe(
      'A match id: the stream starts after this match. By default, it starts with the next recorded match. `Last-Event-ID` takes precedence.',
    ),
});

/** Why the server ended a stream permanently. `session_ended` is sent only to pages of the dashboard. */
export type LiveTailEnd = 'monitor_deleted' | 'key_revoked' | 'session_ended' | 'account_frozen' | 'account_deleted';

export const FEED_TOKEN_EXAMPLE = 'feed_0a1b2c3d4e5f6g7h8j9k0m1n2p3q4r5s';
/** @param ending of a format */
const feedUrl = (ending: string) =>
  z.url().meta(example(`https://api.example.com/feeds/${FEED_TOKEN_EXAMPLE}.${ending}`));

/** Response of POST /v1/monitors/{id}/feed-token. */
export const feedAddresses = z
  .strictObject({
    atom_url: feedUrl('atom').describe('The feed in Atom (RFC 4287). Anyone who has the URL can read the matches.'),
    json_url: feedUrl('json').describe('The same feed as JSON Feed 1.1.'),
  })
  .meta({ id: 'FeedAddresses' });

export type FeedAddresses = z.infer<typeof feedAddresses>;

/** Response of DELETE /v1/monitors/{id}/feed-token. */
export const feedRevoked = z.strictObject({ status: z.literal('revoked') }).meta({ id: 'FeedRevoked' });

const item = itemContent.shape;

/** Response of GET /feeds/{token}.json, by https://www.jsonfeed.org/version/1.1/. */
export const jsonFeed = z
  .strictObject({
    version: z.literal('https://jsonfeed.org/version/1.1'),
    title: monitorName,
    description: z.string().meta(example('The newest matches of this monitor.')),
    feed_url: feedUrl('json'),
    items: z.array(
      z.strictObject({
        id: matchId,
        url: item.permalink,
        title: item.title,
        summary: z.string().meta(example('A post in r/Coffee, matched by french press')),
        content_text: item.body,
        date_published: timestamp,
        date_modified: timestamp,
        authors: z.array(z.strictObject({ name: item.author })),
        tags: z.array(z.string()).meta(example(['french press'])),
      }),
    ),
  })
  .meta({ id: 'JsonFeed' });

export type JsonFeed = z.infer<typeof jsonFeed>;

export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Query of GET /v1/monitors/{id}/matches/export. The service checks that the times fit together. */
export const matchExportQuery = z.strictObject({
  format: z.enum(EXPORT_FORMATS).describe('The file format.'),
  from: queryTime.optional().describe('Only matches recorded (`created_at`) at this time or later.'),
  to: queryTime.optional().describe('Only matches recorded before this time.'),
});
