import type { HistoryEvent, NotRecordedReason } from '../../../schemas/api/rules.ts';
import type { SuppressedReason } from '../../../schemas/messages/monitor-match.ts';

/** The recorder needs no longer than this, unless something is slow. */
const UNDER_WAY_MS = 60_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A match of the monitor for the item, as it is stored. Times are ISO 8601. */
export interface RecordedFact {
  matchId: string;
  enteredAt: string;
  createdAt: string;
  suppressed: boolean;
  suppressedReason: SuppressedReason | undefined;
  /** Found in the archive by a backfill: by the rule of its request, whichever was in force when the item entered. */
  backfill: boolean;
}

/** What is known about an item and a monitor. Times in milliseconds since the epoch. */
export interface HistoryFacts {
  /** undefined: it is not in the archive. */
  item: { createdMs: number; firstSeenMs: number; source: string | undefined } | undefined;
  /** When the forum removed it; undefined: not. */
  removedMs: number | undefined;
  recorded: RecordedFact | undefined;
  monitorCreatedMs: number;
  /** Ascending. Those of the last 30 days. */
  versions: readonly { version: number; sinceMs: number }[];
  /** Ascending; the state with which the last 30 days began is the first. */
  states: readonly { atMs: number; status: string }[];
  /** Whether the rule of the version in force matches the item; undefined: it is not kept. */
  matchedThen: (version: number) => boolean | undefined;
  isMuted: boolean;
  /** Whether matches of the item's day were counted without being stored. */
  isOverCeiling: boolean;
  nowMs: number;
}

const REASONS: Readonly<Record<NotRecordedReason, string>> = {
  not_matched: 'The rule at that time did not match it.',
  before_monitor: 'It was seen before the monitor started watching.',
  paused: 'The monitor was paused when it was seen.',
  paused_balance: 'The monitor was paused for lack of credits when it was seen.',
  created_too_early: 'It was not new: it was created long before it was seen, or before the monitor started watching.',
  muted: 'A mute of the monitor applies to it.',
  over_ceiling: 'The monitor reached the limit of suppressed matches that are stored per day.',
  under_way: 'It was seen less than a minute ago and may still be recorded.',
  rule_unknown: 'The rule at that time is no longer stored.',
  content_removed: 'The forum removed its content, so it can no longer be matched.',
  unknown: 'The rule at that time matched it. Why it was not recorded is no longer known.',
};

/** What happened to an item in a monitor, oldest first, as far as it is kept. */
export function itemHistory(facts: HistoryFacts): HistoryEvent[] {
  const { item, recorded, removedMs } = facts;
  const events: HistoryEvent[] = [];
  if (item !== undefined) {
    events.push({ event: 'created', at: iso(item.createdMs), message: 'Created on the forum.' });
    events.push({ event: 'seen', at: iso(item.firstSeenMs), message: seenBy(item.source) });
  } else if (recorded === undefined) {
    const message = 'It is not in the archive: it was never seen, or more than 30 days ago.';
    return [{ event: 'not_archived', at: null, message }];
  }
  const enteredMs = recorded === undefined ? item!.firstSeenMs : Date.parse(recorded.enteredAt);
  const inForce = facts.versions.findLast(({ sinceMs }) => sinceMs <= enteredMs);
  const matchedThen = inForce && facts.matchedThen(inForce.version);
  if (inForce !== undefined && recorded?.backfill !== true)
    events.push(judgedEvent(inForce, enteredMs, recorded === undefined ? matchedThen : true));
  events.push(
    recorded === undefined ? refusedEvent(refusal(facts, enteredMs, inForce, matchedThen)) : recordedEvent(recorded),
  );
  if (removedMs !== undefined) {
    events.push({ event: 'removed', at: iso(removedMs), message: 'Removed by the forum: its content is blank here.' });
  }
  return events;
}

function judgedEvent(
  { version, sinceMs }: { version: number; sinceMs: number },
  enteredMs: number,
  matched: boolean | undefined,
): HistoryEvent {
  const result = matched === undefined ? 'which is no longer stored' : matched ? 'matched it' : 'did not match it';
  const message = `Version ${version} of the rule, in force since ${iso(sinceMs)}, ${result}.`;
  return { event: 'judged', at: iso(enteredMs), version, message };
}

function recordedEvent({ matchId, createdAt, suppressed, suppressedReason, backfill }: RecordedFact): HistoryEvent {
  const plainly = backfill ? 'Found by a backfill and recorded as a match.' : 'Recorded as a match.';
  const why = suppressedReason === 'thread_once' ? 'its thread already had a match that day' : 'daily cap reached';
  return {
    event: 'recorded',
    at: createdAt,
    match_id: matchId,
    message: suppressed ? `Recorded, but not sent: ${why}.` : plainly,
  };
}

const refusedEvent = (reason: NotRecordedReason): HistoryEvent => ({
  event: 'not_recorded',
  at: null,
  reason,
  message: REASONS[reason],
});

/** Why it was not recorded, in the order in which the recorder decides. */
function refusal(
  facts: HistoryFacts,
  enteredMs: number,
  inForce: { version: number } | undefined,
  matchedThen: boolean | undefined,
): NotRecordedReason {
  if (enteredMs < facts.monitorCreatedMs) return 'before_monitor';
  if (facts.removedMs !== undefined) return 'content_removed';
  if (inForce === undefined || matchedThen === undefined) return 'rule_unknown';
  if (!matchedThen) return 'not_matched';
  const state = facts.states.findLast(({ atMs }) => atMs <= enteredMs);
  if (state?.status === 'paused' || state?.status === 'paused_balance') return state.status;
  const { createdMs, source } = facts.item!;
  const activeSinceMs = state?.atMs ?? facts.monitorCreatedMs;
  const earliest = Math.max(activeSinceMs - 5 * MINUTE_MS, enteredMs - 7 * DAY_MS);
  if (source !== 'replay' && createdMs < earliest) return 'created_too_early';
  if (facts.isMuted) return 'muted';
  if (facts.isOverCeiling) return 'over_ceiling';
  return facts.nowMs - enteredMs < UNDER_WAY_MS ? 'under_way' : 'unknown';
}

const seenBy = (source: string | undefined): string =>
  source === undefined ? 'First seen.' : `First seen, by the source ${source}.`;

const iso = (ms: number): string => new Date(ms).toISOString();
