import type { ArchivedComment } from '../../../shared/stores/crawl/thread-items.ts';
import type { CommentData } from '../../../shared/upstream/parsing/thing-schema.ts';
import type { UnreadableThing } from '../../../shared/upstream/thing-letter.ts';
import type { AuditCount } from './audit-readings.ts';
import type { AuditWindow } from './thread-audit.ts';

/** A thread that was read for a window. */
export interface WindowReading {
  window: AuditWindow;
  /** What was seen later counts as not seen: the same moment for all threads of the window. */
  seenBy: number;
  /** Comments of any time that the thread showed and the archive did not have. */
  found: readonly Pick<CommentData, 'created_utc'>[];
  /** Comments of any time that the archive had. */
  archived: ReadonlyMap<string, ArchivedComment>;
  /** Comments of unknown time that the archive did not have and that could not be read, also for their shape. */
  unread: number;
}

/**
 * Counts the comments of the window: those that the thread showed, those that the archive has, and of those that could
 * not be read the part that the window has of the others. Left out, they would make the thread look better seen.
 */
export function countWindow({ window, seenBy, found, archived, unread }: WindowReading): AuditCount {
  const isIn = (createdAt: number): boolean => createdAt >= window.start && createdAt < window.end;
  let [seen, total] = [0, 0];
  for (const { createdAt, seenAt, source } of archived.values()) {
    if (!isIn(createdAt)) continue;
    total += 1;
    // What another audit found first had not been seen.
    if (source !== 'audit' && seenAt <= seenBy) seen += 1;
  }
  for (const { created_utc: seconds } of found) if (isIn(seconds * 1000)) total += 1;
  const read = archived.size + found.length;
  return { seen, total: total + (read === 0 ? unread : Math.ceil((unread * total) / read)) };
}

/** Counts the comments of unknown shape, except those that are archived because their dead letters were replayed. */
export function countUnreadable(
  unreadable: readonly UnreadableThing[],
  archived: Pick<WindowReading['archived'], 'has'>,
): number {
  // Several answers of a reading may show the same comment.
  const lost = new Set<unknown>();
  for (const { kind, name, raw } of unreadable) {
    if (kind === 't1' && !(name !== undefined && archived.has(name))) lost.add(name ?? raw);
  }
  return lost.size;
}
