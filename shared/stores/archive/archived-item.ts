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

/** A row of item_contents, or of items in the same form. */
export interface ContentRow {
  thingId: string;
  firstSeenAtMs: number;
  /** 2 when the forum removed it. */
  ver: number;
  /** A JSON object (schemas/clickhouse/0001_schema.sql); empty for a removed thing. */
  content: string;
}

type StoredContent = Omit<ItemContent, 'thing_id' | 'created_utc' | 'parent_id'> & {
  parent_id: string;
  created_utc_ms: string;
  language: string;
  source: string;
};

export function archivedItemOf({ thingId, firstSeenAtMs, content }: ContentRow): ArchivedItem {
  const {
    created_utc_ms: createdMs,
    parent_id: parent,
    language,
    source,
    ...stored
  } = JSON.parse(content) as StoredContent;
  return {
    content: {
      thing_id: thingId,
      ...stored,
      parent_id: parent === '' ? null : parent,
      created_utc: new Date(Number(createdMs)).toISOString(),
    },
    firstSeenAt: new Date(firstSeenAtMs).toISOString(),
    language: language === '' ? UNDECIDED_LANGUAGE : language,
    source,
  };
}
