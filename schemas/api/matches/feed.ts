import { z } from 'zod';
import { timestamp } from '../../messages/forum-item.ts';

/** Answer of POST /v1/monitors/{id}/feed-token. */
export const feedAddresses = z
  .strictObject({
    atom_url: z.url().describe('The feed in Atom (RFC 4287). Whoever has the address can read the matches.'),
    json_url: z.url().describe('The same as JSON Feed 1.1.'),
  })
  .meta({ id: 'FeedAddresses' });

export type FeedAddresses = z.infer<typeof feedAddresses>;

/** Answer of DELETE /v1/monitors/{id}/feed-token. */
export const feedRevoked = z.strictObject({ status: z.literal('revoked') }).meta({ id: 'FeedRevoked' });

/** Answer of GET /feeds/{token}.json, by https://www.jsonfeed.org/version/1.1/. */
export const jsonFeed = z
  .strictObject({
    version: z.literal('https://jsonfeed.org/version/1.1'),
    title: z.string(),
    description: z.string(),
    feed_url: z.url(),
    items: z.array(
      z.strictObject({
        id: z.string(),
        url: z.string(),
        title: z.string(),
        summary: z.string(),
        content_text: z.string(),
        date_published: timestamp,
        date_modified: timestamp,
        authors: z.array(z.strictObject({ name: z.string() })),
        tags: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'JsonFeed' });

export type JsonFeed = z.infer<typeof jsonFeed>;
