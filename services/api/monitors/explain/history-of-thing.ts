import type { HistoryEvent } from '../../../../schemas/api/monitors/explain.ts';
import { matchId } from '../../../../shared/domain/identifiers.ts';
import { itemHistory } from '../../../../shared/domain/item-history.ts';
import type { Explanation } from '../../../../shared/matching/explain.ts';
import { matchOne } from '../../../../shared/matching/match-one.ts';
import { hasUnstoredMatches, readMonitorHistory } from '../../../../shared/stores/monitors/monitor-history.ts';
import type { StoredMonitor } from '../../../../shared/stores/monitors/monitors.ts';
import type { ExplainDeps } from './explain-deps.ts';
import type { FoundThing } from './find-thing.ts';

/** What happened to a thing in a monitor, oldest first. */
export async function historyOf(
  { pool, clock }: Pick<ExplainDeps, 'pool' | 'clock'>,
  monitor: StoredMonitor,
  thing: FoundThing,
  explanation: Explanation | undefined,
): Promise<HistoryEvent[]> {
  const { content, item, match, archived } = thing;
  const firstSeenAt = archived === undefined ? match?.firstSeenAt : new Date(archived.firstSeenAt);
  const { versions, states } = await readMonitorHistory(pool, monitor.id);
  return itemHistory({
    item:
      content === undefined || firstSeenAt === undefined
        ? undefined
        : {
            createdMs: Date.parse(content.created_utc),
            firstSeenMs: firstSeenAt.getTime(),
            source: archived?.source,
          },
    removedMs: thing.removedAt?.getTime(),
    recorded: match && {
      matchId: matchId(monitor.id, match.seq),
      enteredAt: match.enteredAt.toISOString(),
      createdAt: match.createdAt.toISOString(),
      suppressed: match.suppressed,
      suppressedReason: match.suppressedReason ?? undefined,
      backfill: match.backfill,
    },
    monitorCreatedMs: monitor.createdAt.getTime(),
    versions: versions.map(({ version, since }) => ({ version, sinceMs: since.getTime() })),
    states: states.map(({ at, status }) => ({ atMs: at.getTime(), status })),
    matchedThen: (wanted) => {
      const rule = versions.find(({ version }) => version === wanted)?.rule;
      return rule && item ? matchOne(rule, item) !== undefined : undefined;
    },
    isMuted: explanation?.mutedBy !== undefined,
    isOverCeiling: firstSeenAt !== undefined && (await hasUnstoredMatches(pool, monitor.id, firstSeenAt)),
    nowMs: clock(),
  });
}
