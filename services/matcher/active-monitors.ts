import { itemContent } from '../../schemas/messages/forum-item.ts';
import type { ForumItem, ItemContent } from '../../schemas/messages/forum-item.ts';
import type { Candidate } from '../../schemas/messages/monitor-match.ts';
import type { OutgoingRecord } from '../../shared/kafka/publisher.ts';
import { MonitorIndex } from '../../shared/matching/monitor-index.ts';
import type { MonitorMatchResult } from '../../shared/matching/monitor-index.ts';
import type { MatchItem } from '../../shared/matching/rule.ts';
import type { MonitorRule, MonitorState } from '../../shared/monitors/monitor-rules.ts';
import type { CooperativeYield } from '../../shared/runtime/clock.ts';
import { traceHeaders } from '../../shared/runtime/tracing.ts';
import type { TraceSpan } from '../../shared/runtime/tracing.ts';
import type { EnteredItem } from './recent-items.ts';

export interface ActiveMonitor {
  version: number;
  activeSinceMs: number;
  /** When it was last created or resumed, and when each of its rule versions started; milliseconds since the epoch. */
  startedMs: readonly number[];
}

/**
 * All active monitors, in memory, and the matching of items against them.
 *
 * `MonitorChanges` keeps the set equal to the database; `ItemMatcher` asks it for the candidates of each item. Nothing
 * here is persistent: after a crash the set is loaded again.
 */
export class ActiveMonitors {
  private readonly index = new MonitorIndex<ActiveMonitor>();

  get size(): number {
    return this.index.size;
  }

  /**
   * Adds a monitor or replaces its rule.
   *
   * A monitor that was not active here (created or resumed) needs a scan from its active_since. One that was active in
   * version v needs a scan from the start of version v + 1: earlier items were matched against the rule of their time.
   * A version older than the present one counts: after a fail-over that lost a change, the recorder refuses candidates
   * of the newer one.
   *
   * @returns the append time (milliseconds, clock tolerance not yet subtracted) from which recent items must be scanned
   *   again for this monitor; undefined when nothing changed
   */
  set(monitor: MonitorRule): number | undefined {
    const previous = this.index.get(monitor.id);
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

  /** Removes a monitor that is paused, out of credits or deleted; it gets no candidates from now on. */
  remove(id: string): void {
    this.index.remove(id);
  }

  /** Returns false when the monitor must be read from the database again. */
  isUpToDate({ id, version, activeSinceMs }: MonitorState): boolean {
    const active = this.index.get(id);
    return active?.version === version && active.activeSinceMs === activeSinceMs;
  }

  /** Ids of all active monitors. Monitors may be added and removed during the iteration. */
  ids(): Iterable<string> {
    return this.index.ids();
  }

  /**
   * Returns the candidates that the previous owner of the partition may have missed. That process knew every change
   * before `changedSinceMs`, so only monitors that were created, resumed or changed at or after that time, and before
   * the item entered, are considered.
   */
  missedCandidates(entered: EnteredItem, changedSinceMs: number, toleranceMs: number): Candidate[] {
    const until = entered.enteredAtMs + toleranceMs;
    return this.candidates(entered, (_, { startedMs }) =>
      startedMs.some((started) => started >= changedSinceMs && started <= until),
    );
  }

  /** Returns the candidates of one item, limited to monitors for which `accepts` returns true. */
  candidates(entered: EnteredItem, accepts?: (id: string, active: ActiveMonitor) => boolean): Candidate[] {
    const item = toMatchItem(entered.item);
    if (accepts && !this.matchesAny(item, accepts)) return [];
    const matches = this.index.match(item).filter(({ monitorId, payload }) => !accepts || accepts(monitorId, payload));
    if (matches.length === 0) return [];
    const content = contentOf(entered.item);
    return matches.map((match) => toCandidate(match, entered, content));
  }

  /** Most items of a scan match none of its few monitors; this skips the cost of collecting terms. */
  private matchesAny(item: MatchItem, accepts: (id: string, active: ActiveMonitor) => boolean): boolean {
    let any = false;
    this.index.forEachMatch(item, (id, active) => {
      any ||= accepts(id, active);
    });
    return any;
  }
}

function toMatchItem({ kind, title, body, subreddit, nsfw, author, language }: ForumItem): MatchItem {
  const item: MatchItem = { kind, title, text: body, subreddit, nsfw, author };
  if (language !== undefined) item.language = language;
  return item;
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

/** Bounds of a request. Serialising one blocks the event loop, so it must take only a few milliseconds. */
const MAX_RECORDS = 500;
const MAX_CODE_UNITS = 256 * 1024;

export type PublishCandidates = (records: readonly OutgoingRecord[]) => Promise<void>;

/**
 * Serialises candidates and publishes them to monitor.candidates in requests of at most 500 records or about 256 KB.
 *
 * Before: `ItemMatcher` or a scan of `MonitorChanges` produces candidates. After: the recorder consumes them. A crash
 * loses the buffered candidates, but the offset of their items is not committed yet, so they are produced again.
 */
export class CandidatePublisher {
  private readonly publish: PublishCandidates;
  private readonly cooperativeYield: CooperativeYield;
  private records: OutgoingRecord[] = [];
  private codeUnits = 0;

  constructor(publish: PublishCandidates, cooperativeYield: CooperativeYield) {
    this.publish = publish;
    this.cooperativeYield = cooperativeYield;
  }

  /** Publishes full requests at once and buffers the remainder; call `flush` at the end. `span`: of their item. */
  async add(candidates: readonly Candidate[], span?: TraceSpan): Promise<void> {
    for (const candidate of candidates) {
      const value = JSON.stringify(candidate);
      this.records.push({ key: candidate.monitor_id, value, ...traceHeaders(span) });
      this.codeUnits += value.length;
      if (this.records.length === MAX_RECORDS || this.codeUnits >= MAX_CODE_UNITS) await this.flush();
      await this.cooperativeYield.pause();
    }
  }

  async flush(): Promise<void> {
    const { records } = this;
    this.records = [];
    this.codeUnits = 0;
    if (records.length > 0) await this.publish(records);
  }
}
