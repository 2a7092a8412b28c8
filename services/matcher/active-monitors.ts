import type { Candidate } from '../../schemas/messages/candidate.ts';
import { itemContent } from '../../schemas/messages/forum-item.ts';
import type { ForumItem, ItemContent } from '../../schemas/messages/forum-item.ts';
import { MonitorIndex } from '../../shared/matching/monitor-index.ts';
import type { MonitorMatchResult } from '../../shared/matching/monitor-index.ts';
import type { MatchItem } from '../../shared/matching/rule.ts';
import type { MonitorRule, MonitorState } from '../../shared/stores/monitors/monitor-rules.ts';
import type { EnteredItem } from './recent-items.ts';

/** What is known of a monitor besides its rule. */
export interface ActiveMonitor {
  version: number;
  activeSinceMs: number;
  /** When it was created or resumed last, and when its rule versions began. */
  startedMs: readonly number[];
}

/** All active monitors, in memory, and what matches them. */
export class ActiveMonitors {
  private readonly index = new MonitorIndex<ActiveMonitor>();

  get size(): number {
    return this.index.size;
  }

  /**
   * Takes over a monitor's present rule. Answers from which append time on (milliseconds, before the clock tolerance)
   * recent items have to be looked at again for it; undefined: none, because nothing changed.
   *
   * Not held before (created, resumed): from active_since. Held in version h: from the beginning of version h + 1; what
   * entered before that was judged by the rule of its time. A comparison may bring an older reading than a notification
   * did; it is ignored.
   */
  set(monitor: MonitorRule): number | undefined {
    const previous = this.index.get(monitor.id);
    if (previous && previous.version > monitor.version) return undefined;
    const active: ActiveMonitor = {
      version: monitor.version,
      activeSinceMs: monitor.activeSinceMs,
      startedMs: [monitor.activeSinceMs, ...monitor.versions.map(({ sinceMs }) => sinceMs)],
    };
    this.index.set(monitor.id, monitor.rule, active);
    if (!previous) return monitor.activeSinceMs;
    if (previous.version === monitor.version) return undefined;
    const next = monitor.versions.find(({ version }) => version > previous.version);
    return next?.sinceMs ?? monitor.activeSinceMs;
  }

  /** Paused, out of credits or deleted: no candidates from now on. */
  remove(id: string): void {
    this.index.remove(id);
  }

  /** False: the monitor has to be read anew. */
  isUpToDate({ id, version, activeSinceMs }: MonitorState): boolean {
    const active = this.index.get(id);
    return active?.version === version && active.activeSinceMs === activeSinceMs;
  }

  /** Monitors may come and go while the ids are walked through. */
  ids(): Iterable<string> {
    return this.index.ids();
  }

  /**
   * The candidates of an item that was matched by another process, which knew everything that began before
   * `changedSinceMs`: those of monitors that were created, resumed or changed later, and before the item entered.
   */
  missedCandidates(entered: EnteredItem, changedSinceMs: number, toleranceMs: number): Candidate[] {
    const until = entered.enteredAtMs + toleranceMs;
    return this.candidates(entered, (_, { startedMs }) =>
      startedMs.some((started) => started >= changedSinceMs && started <= until),
    );
  }

  /** The candidates of one item, of all monitors that `judge` lets through. */
  candidates(entered: EnteredItem, accepts?: (id: string, active: ActiveMonitor) => boolean): Candidate[] {
    const item = toMatchItem(entered.item);
    if (accepts && !this.matchesAny(item, accepts)) return [];
    const content = contentOf(entered.item);
    return this.index
      .match(item)
      .filter(({ monitorId, payload }) => !accepts || accepts(monitorId, payload))
      .map((match) => toCandidate(match, entered, content));
  }

  /**
   * Most recent items match none of the few monitors that are looked at again: so much is known without their terms.
   */
  private matchesAny(item: MatchItem, accepts: (id: string, active: ActiveMonitor) => boolean): boolean {
    let any = false;
    this.index.forEachMatch(item, (id, active) => {
      any ||= accepts(id, active);
    });
    return any;
  }
}

function toMatchItem({ kind, title, body, subreddit, nsfw }: ForumItem): MatchItem {
  return { kind, title, text: body, subreddit, nsfw };
}

function toCandidate(
  match: MonitorMatchResult<ActiveMonitor>,
  { item, enteredAtMs }: EnteredItem,
  content: ItemContent,
): Candidate {
  return {
    v: 1,
    monitor_id: match.monitorId,
    monitor_version: match.payload.version,
    matched_terms: match.matchedTerms,
    match_positions: match.positions.map(({ field, start, end }) => ({
      field: field === 'text' ? 'body' : field,
      start,
      end,
    })),
    entered_at: new Date(enteredAtMs).toISOString(),
    first_seen_at: item.first_seen_at,
    replay: item.replay,
    item: content,
  };
}

const CONTENT_FIELDS = Object.keys(itemContent.shape) as (keyof ItemContent)[];

function contentOf(item: ForumItem): ItemContent {
  return Object.fromEntries(CONTENT_FIELDS.map((field) => [field, item[field]])) as ItemContent;
}
