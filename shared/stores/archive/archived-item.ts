import type { ItemContent } from '../../../schemas/messages/forum-item.ts';
import { UNDECIDED_LANGUAGE } from '../../../schemas/messages/item-languages.ts';
import type { MatchItem } from '../../matching/rule.ts';

/** A post or comment of the archive, as it was first seen. */
export interface ArchivedItem {
  content: ItemContent;
  /** ISO 8601 in UTC with milliseconds. */
  firstSeenAt: string;
  /** ISO 639-1; `und` when it is not decided, or was not when the item was archived. */
  language: string;
  /** Name of the crawl source; `replay` for items of dump files. */
  source: string;
}

/** Exactly what live matching saw of the item. A lone surrogate of the original is U+FFFD here. */
export function matchItemOf({ content, language }: ArchivedItem): MatchItem {
  const { kind, title, body, subreddit, nsfw, author } = content;
  return { kind, title, text: body, subreddit, nsfw, author, language };
}

/** A row of items, as `ITEM_COLUMNS` selects it. */
export interface ItemRow {
  content: Omit<ItemContent, 'created_utc' | 'parent_id' | 'nsfw'> & { parent_id: string; nsfw: boolean };
  createdUtcMs: number;
  firstSeenAtMs: number;
  language: string;
  source: string;
}

// No alias repeats a column's name: ClickHouse would use the alias in WHERE too.
export const ITEM_COLUMNS = `tuple(thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw)::Tuple(thing_id String, kind String, post_id String,
         parent_id String, subreddit String, author String, title String, body String, permalink String, nsfw Bool) AS content,
       toUnixTimestamp64Milli(created_utc) AS createdUtcMs, toUnixTimestamp64Milli(first_seen_at) AS firstSeenAtMs, language, source`;

export function archivedItemOf(row: ItemRow): ArchivedItem {
  return {
    content: {
      ...row.content,
      parent_id: row.content.parent_id === '' ? null : row.content.parent_id,
      created_utc: new Date(row.createdUtcMs).toISOString(),
    },
    firstSeenAt: new Date(row.firstSeenAtMs).toISOString(),
    language: row.language === '' ? UNDECIDED_LANGUAGE : row.language,
    source: row.source,
  };
}
