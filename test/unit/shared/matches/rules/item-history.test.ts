import { describe, expect, test } from 'vitest';
import { itemHistory } from '../../../../../shared/matches/rules/item-history.ts';
import type { HistoryFacts } from '../../../../../shared/matches/rules/item-history.ts';

const at = (time: string): number => Date.parse(`2026-03-04T${time}.000Z`);
const day = (number: number): number => Date.parse(`2026-03-0${number}T00:00:00.000Z`);

/** Seen at 12:00 by a monitor that has run since the first of March, whose rule of now is version 2. */
const FACTS: HistoryFacts = {
  item: { createdMs: at('11:59:58'), firstSeenMs: at('12:00:00'), source: 'listings' },
  removedMs: undefined,
  recorded: undefined,
  monitorCreatedMs: day(1),
  versions: [
    { version: 1, sinceMs: day(1) },
    { version: 2, sinceMs: day(3) },
  ],
  states: [{ atMs: day(1), status: 'active' }],
  matchedThen: () => true,
  isMuted: false,
  isOverCeiling: false,
  nowMs: at('18:00:00'),
};
const RECORDED = {
  matchId: 'mat_1',
  enteredAt: '2026-03-04T12:00:00.100Z',
  createdAt: '2026-03-04T12:00:00.200Z',
  suppressed: false,
  suppressedReason: undefined,
  backfill: false,
};
const paused = [
  { atMs: day(1), status: 'active' },
  { atMs: at('11:00:00'), status: 'paused' },
  { atMs: at('13:00:00'), status: 'active' },
];

describe('why something was not recorded', () => {
  test.each<[string, Partial<HistoryFacts>, string]>([
    ['the rule of that time', { matchedThen: () => false }, 'not_matched'],
    ['a monitor that is younger', { monitorCreatedMs: at('12:00:01') }, 'before_monitor'],
    ['a pause', { states: paused }, 'paused'],
    ['a pause for lack of credits', { states: [{ atMs: day(2), status: 'paused_balance' }] }, 'paused_balance'],
    [
      'an old thing that was seen anew',
      { item: { createdMs: day(4) - 8 * 86_400_000, firstSeenMs: at('12:00:00'), source: 'listings' } },
      'created_too_early',
    ],
    [
      'a thing from before the resume',
      { item: { createdMs: at('12:54:59'), firstSeenMs: at('13:00:01'), source: 'threads' }, states: paused },
      'created_too_early',
    ],
    ['a mute', { isMuted: true }, 'muted'],
    ['the ceiling of suppressed matches', { isOverCeiling: true }, 'over_ceiling'],
    ['haste', { nowMs: at('12:00:30') }, 'under_way'],
    ['a rule that is forgotten', { matchedThen: () => undefined }, 'rule_unknown'],
    ['versions that are forgotten', { versions: [{ version: 2, sinceMs: at('12:00:01') }] }, 'rule_unknown'],
    ['a removal', { removedMs: at('14:00:00') }, 'content_removed'],
    ['nothing that is known', {}, 'unknown'],
  ])('%s', (_, facts, reason) => {
    const refused = itemHistory({ ...FACTS, ...facts }).find(({ event }) => event === 'not_recorded');
    expect(refused?.reason).toBe(reason);
  });

  test('old things of a dump file are not too early', () => {
    const item = { createdMs: day(1) - 90 * 86_400_000, firstSeenMs: at('12:00:00'), source: 'replay' };
    expect(itemHistory({ ...FACTS, item }).at(-1)?.reason).toBe('unknown');
  });
});

test('names the version in force', () => {
  const versions = [
    { version: 1, sinceMs: day(1) },
    { version: 2, sinceMs: at('12:00:01') },
  ];
  const asked: number[] = [];
  const matchedThen = (version: number) => {
    asked.push(version);
    return false;
  };
  const judged = itemHistory({ ...FACTS, versions, matchedThen }).find(({ event }) => event === 'judged');
  expect(judged).toMatchObject({ version: 1, at: '2026-03-04T12:00:00.000Z' });
  expect(asked).toEqual([1]);
});

test('a match is due to the version of the moment it entered, whatever its rule is now', () => {
  const history = itemHistory({ ...FACTS, recorded: RECORDED, matchedThen: () => false });
  expect(history.map(({ event }) => event)).toEqual(['created', 'seen', 'judged', 'recorded']);
  expect(history[2]).toMatchObject({ version: 2 });
  expect(history[3]).toMatchObject({ at: RECORDED.createdAt, match_id: 'mat_1' });
});
