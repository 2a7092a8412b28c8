import type { RejectionReason } from '../../../shared/matches/rules/match-decision.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Times in ms after the monitor's active_since. */
export interface DecisionCase {
  name: string;
  /** undefined: no counters row. */
  status?: 'active' | 'paused' | 'paused_balance' | 'deleted' | 'gone';
  /** The monitor's version now; default 1. */
  version?: number;
  /** Versions after the first and when they began. */
  starts?: Record<number, number>;
  candidateVersion?: number;
  entered: number;
  /** Default: when it entered. */
  created?: number;
  replay?: boolean;
  tolerance?: number;
  /** Whether the monitor has a mute for the item's community. */
  muted?: boolean;
  expected: RejectionReason | undefined;
}

type More = Omit<DecisionCase, 'name' | 'entered' | 'expected'>;

function row(name: string, entered: number, expected: RejectionReason | undefined, more: More = {}): DecisionCase {
  return { name, entered, expected, ...more };
}

/** Two rules behind. */
const BEHIND = { version: 3, starts: { 2: 10_000, 3: 90_000 } };
/** Matched by a rule that began six hours after the monitor. */
const LATE = { version: 2, candidateVersion: 2, starts: { 2: 6 * HOUR, 3: 7 * HOUR } };

export const DECISION_CASES: DecisionCase[] = [
  row('an active monitor takes an item', 10, undefined),
  row('a paused monitor takes nothing', 10, 'monitor_inactive', { status: 'paused' }),
  row('nor does one without credits', 10, 'monitor_inactive', { status: 'paused_balance' }),
  row('nor a deleted one', 10, 'monitor_inactive', { status: 'deleted' }),
  row('nor one without counters', 10, 'monitor_gone', { status: 'gone' }),

  row('a muted item is refused', 10, 'muted', { muted: true }),
  row('a muted item of a dump file too', 10, 'muted', { muted: true, replay: true }),
  row('another reason is named before the mute', 10, 'rule_changed', { muted: true, version: 2, starts: { 2: 5 } }),
  row('also the age of the item', 10, 'created_too_early', { muted: true, created: -DAY }),

  ...[0, 500].flatMap((tolerance): DecisionCase[] => {
    const changed = { tolerance, version: 2, starts: { 2: 10_000 } };
    return [
      row('entered at active_since less the tolerance', -tolerance, undefined, { tolerance }),
      row('entered a millisecond before', -tolerance - 1, 'entered_before_active', { tolerance }),
      row('by the old rule, before the next one began', 10_000 - tolerance - 1, undefined, changed),
      row('by the old rule, when the next one began', 10_000 - tolerance, 'rule_changed', changed),
      row('by the new rule, entered before it began', 5_000, undefined, { ...changed, candidateVersion: 2 }),
      row('by a rule begun an hour after', 5 * HOUR - tolerance, undefined, { ...LATE, tolerance }),
      row('by a rule begun more than an hour after', 5 * HOUR - tolerance - 1, 'rule_changed', { ...LATE, tolerance }),
    ];
  }),
  row('by a rule begun long after and changed since', 10, 'rule_changed', { ...LATE, version: 3 }),
  row('the same of a dump file', 10, 'rule_changed', { ...LATE, replay: true }),
  row('a replayed item that entered before', -1, 'entered_before_active', { replay: true }),

  row('made 5 minutes before active_since', 10, undefined, { created: -5 * MINUTE }),
  row('made a millisecond more before', 10, 'created_too_early', { created: -5 * MINUTE - 1 }),
  row('tolerance or not', 10, 'created_too_early', { created: -5 * MINUTE - 1, tolerance: 500 }),
  row('the same from a replay source', 10, undefined, { replay: true, created: -3_000 * DAY }),
  row('7 days old on entering', 20 * DAY, undefined, { created: 13 * DAY }),
  row('a millisecond older on entering', 20 * DAY, 'created_too_early', { created: 13 * DAY - 1 }),

  row('two rules behind: the start of the very next one counts', 50_000, 'rule_changed', BEHIND),
  row('two rules behind, entered before the very next one', 5_000, undefined, BEHIND),
  row('by a rule so old that its end is forgotten', 5_000, 'rule_changed', { version: 9 }),
  row('by a rule that does not exist yet', 5_000, 'rule_changed', { candidateVersion: 2 }),
];
