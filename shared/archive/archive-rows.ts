import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import type { DeliveryAttempt, RecordedMatch } from '../../schemas/messages/monitor-match.ts';
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { blankedContent } from '../matches/rules/match-resource.ts';
import { wordsOfText } from '../matching/searchable-words.ts';
import type { Queryable } from '../postgres/pool.ts';
import { findRemovedItems } from '../crawl/crawl-cursors.ts';

/**
 * A row of a ClickHouse table (schemas/clickhouse). The functions below are pure: a message always gives the same row,
 * so the rows of a repeated insert are merged away.
 */
export type ArchiveRow = Record<string, unknown>;

/**
 * @param removed true when the forum removed the item: the row keeps its ids, kind, community and times, no content
 */
export function itemRow(item: ForumItem, removed: boolean): ArchiveRow {
  const {
    v: _v,
    replay: _replay,
    late: _late,
    ...columns
  } = removed ? { ...item, ...blankedContent(item), url: '' } : item;
  return readable({
    ...columns,
    parent_id: item.parent_id ?? '',
    // The column is unsigned; one invalid count must not stop the archive.
    num_comments: Math.max(0, item.num_comments ?? 0),
    url: columns.url ?? '',
    ver: removed ? 2 : 1,
    words: removed ? '' : wordsOf(item),
    post_title_words: removed || item.kind === 'post' ? '' : wordsOfText(item.title).join(' '),
  });
}

/** The words that search finds the item by. A title is read by itself, as in matching: it may begin what is code. */
function wordsOf({ kind, title, body }: ForumItem): string {
  const texts = kind === 'comment' ? [body] : [title, body];
  return [...new Set(texts.flatMap(wordsOfText))].join(' ');
}

export function matchRow(match: RecordedMatch): ArchiveRow {
  const { item, v: _v, ...columns } = match;
  const { thing_id, kind, subreddit, created_utc } = item;
  return readable({ ...columns, thing_id, kind, subreddit, created_utc });
}

export function attemptRow(attempt: DeliveryAttempt): ArchiveRow {
  const { v: _v, ...columns } = attempt;
  return readable({ ...columns, error: attempt.error ?? '' });
}

/**
 * Replaces lone surrogates in the row by U+FFFD. ClickHouse rejects JSON that contains one, and with it the whole
 * insert on every repeat.
 */
function readable(row: ArchiveRow): ArchiveRow {
  for (const column in row) {
    const value = row[column];
    if (typeof value === 'string') {
      if (!value.isWellFormed()) row[column] = value.toWellFormed();
    } else if (Array.isArray(value)) row[column] = value.map(wellFormed);
  }
  return row;
}

function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/**
 * Inserts items into ClickHouse; items that the forum removed are inserted blank.
 *
 * A removal first inserts a row into removed_things, then blanks the archive. This function first inserts, then reads
 * removed_things again, so at least one of the two always sees the other. Steps, each harmless when a crash repeats it:
 * 1. Read removed_things, so that removed content is not written.
 * 2. Insert.
 * 3. Read removed_things again and insert blank rows for items that were removed during the insert.
 *
 * Before: `archiveTopic` collected items of forum.posts and forum.comments. After: it commits their offsets.
 */
export async function insertItems(db: Queryable, clickhouse: ClickHouseClient, items: ForumItem[]): Promise<void> {
  const ids = [...new Set(items.map(({ thing_id }) => thing_id))];
  const insert = (values: ReturnType<typeof itemRow>[]) =>
    clickhouse.insert({ table: 'items', values, format: 'JSONEachRow' });
  const removed = await findRemovedItems(db, ids);
  await insert(items.map((item) => itemRow(item, removed.has(item.thing_id))));
  const removedNow = await findRemovedItems(db, ids);
  const removedMeanwhile = items.filter(({ thing_id }) => removedNow.has(thing_id) && !removed.has(thing_id));
  if (removedMeanwhile.length > 0) await insert(removedMeanwhile.map((item) => itemRow(item, true)));
}
