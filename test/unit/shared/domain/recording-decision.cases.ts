import type { RejectionReason } from '../../../../shared/domain/recording-decision.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

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

const TOLERANCES = [0, 500];

export const DECISION_CASES: DecisionCase[] = [
  { name: 'an active monitor takes an item', entered: 10, expected: undefined },
  { name: 'a paused monitor takes nothing', status: 'paused', entered: 10, expected: 'monitor_inactive' },
  { name: 'nor does one without credits', status: 'paused_balance', entered: 10, expected: 'monitor_inactive' },
  { name: 'nor a deleted one', status: 'deleted', entered: 10, expected: 'monitor_inactive' },
  { name: 'nor one without counters', status: 'gone', entered: 10, expected: 'monitor_gone' },

  { name: 'a muted item is refused', muted: true, entered: 10, expected: 'muted' },
  { name: 'a muted item of a dump file too', muted: true, replay: true, entered: 10, expected: 'muted' },
  {
    name: 'a muted item that entered under a rule before',
    muted: true,
    version: 2,
    starts: { 2: 20 },
    entered: 10,
    expected: 'muted',
  },
  {
    name: 'another reason is named before the mute: a changed rule',
    muted: true,
    version: 2,
    starts: { 2: 5 },
    entered: 10,
    expected: 'rule_changed',
  },
  { name: 'a paused monitor', muted: true, status: 'paused', entered: 10, expected: 'monitor_inactive' },
  { name: 'an item from before', muted: true, entered: -MINUTE, expected: 'entered_before_active' },
  { name: 'an old item', muted: true, entered: 10, created: -DAY, expected: 'created_too_early' },

  ...TOLERANCES.flatMap((tolerance): DecisionCase[] => [
    { name: 'entered at active_since less the tolerance', tolerance, entered: -tolerance, expected: undefined },
    {
      name: 'entered a millisecond before',
      tolerance,
      entered: -tolerance - 1,
      expected: 'entered_before_active',
    },
    {
      name: 'a replayed item that entered a millisecond before',
      tolerance,
      replay: true,
      entered: -tolerance - 1,
      expected: 'entered_before_active',
    },

    { name: 'made 5 minutes before active_since', tolerance, entered: 10, created: -5 * MINUTE, expected: undefined },
    {
      name: 'made a millisecond more before, tolerance or not',
      tolerance,
      entered: 10,
      created: -5 * MINUTE - 1,
      expected: 'created_too_early',
    },
    {
      name: 'the same from a replay source',
      tolerance,
      replay: true,
      entered: 10,
      created: -3_000 * DAY,
      expected: undefined,
    },
    { name: '7 days old on entering', tolerance, entered: 20 * DAY, created: 13 * DAY, expected: undefined },
    {
      name: 'a millisecond older on entering',
      tolerance,
      entered: 20 * DAY,
      created: 13 * DAY - 1,
      expected: 'created_too_early',
    },
    {
      name: 'the same from a replay source',
      tolerance,
      replay: true,
      entered: 20 * DAY,
      created: 13 * DAY - 1,
      expected: undefined,
    },

    {
      name: 'by the old rule, entered a millisecond before the next one began, less the tolerance',
      tolerance,
      version: 2,
      starts: { 2: 10_000 },
      entered: 10_000 - tolerance - 1,
      expected: undefined,
    },
    {
      name: 'by the old rule, entered when the next one began, less the tolerance',
      tolerance,
      version: 2,
      starts: { 2: 10_000 },
      entered: 10_000 - tolerance,
      expected: 'rule_changed',
    },
    {
      name: 'by the new rule, entered before it began',
      tolerance,
      version: 2,
      candidateVersion: 2,
      starts: { 2: 10_000 },
      entered: 5_000,
      expected: undefined,
    },
    {
      name: 'two rules behind: the start of the very next one counts',
      tolerance,
      version: 3,
      starts: { 2: 10_000, 3: 90_000 },
      entered: 50_000,
      expected: 'rule_changed',
    },
    {
      name: 'two rules behind, entered before the very next one',
      tolerance,
      version: 3,
      starts: { 2: 10_000, 3: 90_000 },
      entered: 5_000,
      expected: undefined,
    },
  ]),

  { name: 'by a rule so old that its end is forgotten', version: 9, entered: 5_000, expected: 'rule_changed' },
  {
    name: 'by a rule that does not exist yet',
    version: 1,
    candidateVersion: 2,
    entered: 5_000,
    expected: 'rule_changed',
  },
];
