import type { DeliveryAttempt } from '../../schemas/delivery-attempt.ts';
import type { ForumItem } from '../../schemas/forum-item.ts';
import type { RecordedMatch } from '../../schemas/recorded-match.ts';
import { blankedContent } from '../../shared/domain/blanked-content.ts';

/** Rows as ClickHouse's tables have them (schemas/clickhouse). */
export type ArchiveRow = Record<string, unknown>;

/** @param removed the forum removed the thing: only what it was and where it stood is kept */
export function itemRow(item: ForumItem, removed: boolean): ArchiveRow {
  const { v: _v, replay: _replay, ...columns } = item;
  return {
    ...columns,
    ...(removed ? blankedContent(item) : {}),
    parent_id: item.parent_id ?? '',
    num_comments: item.num_comments ?? 0,
    url: removed ? '' : (item.url ?? ''),
    ver: removed ? 2 : 1,
    v: undefined,
  };
}

export function matchRow(match: RecordedMatch): ArchiveRow {
  const { item, v: _v, ...columns } = match;
  const { thing_id, kind, subreddit, created_utc } = item;
  return { ...columns, thing_id, kind, subreddit, created_utc };
}

export function attemptRow(attempt: DeliveryAttempt): ArchiveRow {
  const { v: _v, ...columns } = attempt;
  return { ...columns, error: attempt.error ?? '' };
}
