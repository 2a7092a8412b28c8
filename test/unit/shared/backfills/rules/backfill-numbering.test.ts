import { expect, test } from 'vitest';
import { numberBackfilled } from '../../../../../shared/backfills/rules/backfill-numbering.ts';
import type { AcceptedCandidate, CounterFacts } from '../../../../../shared/matches/rules/match-decision.ts';

const NOW = Date.parse('2026-03-04T10:00:00.000Z');
const counters: CounterFacts = {
  monitorId: 'mon_0123456789ab',
  lastSeq: 7,
  lastMatchAtMs: NOW - 1_000,
  day: '2026-03-04',
  matchesOfDay: 0,
  suppressedOfDay: 0,
  notStoredUntilMs: NOW + 1_000,
  threadOnce: false,
  threadsOfDay: new Set(),
  threadsNotStoredUntilMs: undefined,
  hasWebhook: true,
  hasDigest: false,
  pack: 79,
  nowMs: NOW,
};

function found(thingId: string, postId = thingId): AcceptedCandidate {
  const at = '2026-02-20T10:00:00.000Z';
  return { thingId, kind: 'comment', postId, matchedTerms: ['rust'], enteredAt: at, firstSeenAt: at };
}

const deliveries = (more: Partial<CounterFacts>, candidates: AcceptedCandidate[], deliver = true) =>
  numberBackfilled({ ...counters, ...more }, candidates, deliver).matches.map(({ firstDelivery }) => firstDelivery);

test('what was not stored on an earlier day stays decided for live candidates', () => {
  const { advance } = numberBackfilled(counters, [found('a'), found('b')], false);
  expect(advance).toMatchObject({ lastSeq: 9, notStored: 0, notStoredUntil: null, threadsNotStoredUntil: null });
});

test('times never decrease along seq, also when the clock stepped back', () => {
  const { matches } = numberBackfilled({ ...counters, lastMatchAtMs: NOW + 5_000 }, [found('a')], false);
  expect(matches[0]!.createdAt).toBe('2026-03-04T10:00:05.000Z');
});

test.each([
  ['beyond the cap', { matchesOfDay: 1_000 }, true],
  ['without a webhook', { hasWebhook: false }, true],
  ['unless it is asked for', {}, false],
])('nothing is delivered %s', (_name, more, deliver) => {
  expect(deliveries(more, [found('a')], deliver)).toEqual(['none']);
});

test('with thread_once one match of a thread is delivered a day, and uses it up', () => {
  const more = { threadOnce: true, threadsOfDay: new Set(['x']) };
  const candidates = [found('a', 'x'), found('b', 'y'), found('c', 'y'), found('d', 'z')];
  expect(deliveries(more, candidates)).toEqual(['none', 'pending', 'none', 'pending']);
  expect(numberBackfilled({ ...counters, ...more }, candidates, true).threads).toEqual(['y', 'z']);
  // What is not delivered uses up no thread.
  expect(numberBackfilled({ ...counters, ...more }, candidates, false).threads).toEqual([]);
});
