import type { JsonFeed } from '../../../schemas/api/matches/feed.ts';
import type { FeedContent } from './feed-content.ts';

/** A feed as JSON Feed 1.1. @param url its own address */
export function jsonFeedOf({ title, description, entries }: FeedContent, url: string): JsonFeed {
  return {
    version: 'https://jsonfeed.org/version/1.1',
    title,
    description,
    feed_url: url,
    items: entries.map((entry) => ({
      id: entry.id,
      url: entry.url,
      title: entry.title,
      summary: entry.summary,
      content_text: entry.text,
      date_published: entry.publishedAt.toISOString(),
      date_modified: entry.updatedAt.toISOString(),
      authors: entry.author === null ? [] : [{ name: entry.author }],
      tags: entry.terms,
    })),
  };
}
