import { expect, test } from 'vitest';
import { numberMatches as numberUpTo } from '../../../../../shared/matches/rules/match-decision.ts';
import type { AcceptedCandidate, CounterFacts } from '../../../../../shared/matches/rules/match-decision.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

function counters(facts: Partial<CounterFacts> = {}): CounterFacts {
  return {
    monitorId: 'mon_0123456789ab',
    lastSeq: 0,
    lastMatchAtMs: undefined,
    day: '2026-03-01',
    matchesOfDay: 0,
    suppressedOfDay: 0,
    notStoredUntilMs: undefined,
    threadOnce: false,
    hasDigest: false,
    threadsOfDay: new Set(),
    threadsNotStoredUntilMs: undefined,
    hasWebhook: true,
    pack: 0,
    nowMs: NOW,
    ...facts,
  };
}

function accepted(count: number): AcceptedCandidate[] {
  return Array.from({ length: count }, (_, index) => ({
    thingId: `t3_${index}`,
    kind: 'post',
    postId: `${index}`,
    matchedTerms: ['rust'],
    enteredAt: '2026-03-01T11:59:59.000Z',
    firstSeenAt: '2026-03-01T11:59:58.000Z',
  }));
}

const numberMatches = (facts: CounterFacts, candidates: AcceptedCandidate[]) => numberUpTo(facts, candidates, 10_000);

test.each([
  { pack: 0, cap: 200 },
  { pack: 9, cap: 1_000 },
  { pack: 79, cap: 1_000 },
])('pack $pack: the first $cap matches of a day are sent, the next is suppressed', ({ pack, cap }) => {
  const { matches, advance } = numberMatches(counters({ pack, matchesOfDay: cap - 1 }), accepted(2));
  expect(matches.map((match) => [match.suppressed, match.firstDelivery])).toEqual([
    [false, 'pending'],
    [true, 'skipped'],
  ]);
  expect(advance).toMatchObject({ matches: 1, suppressed: 1, lastSeq: 2 });
});

test('a cap that shrank below what the day has already leaves no room', () => {
  const { advance } = numberMatches(counters({ matchesOfDay: 900 }), accepted(2));
  expect(advance).toMatchObject({ matches: 0, suppressed: 2 });
});

test('without a webhook a match is delivered nowhere, suppressed or not', () => {
  const { matches } = numberMatches(counters({ hasWebhook: false, matchesOfDay: 199 }), accepted(2));
  expect(matches.map((match) => [match.suppressed, match.firstDelivery, match.nextAttemptAt])).toEqual([
    [false, 'none', null],
    [true, 'none', null],
  ]);
});

/** A candidate per letter: the letter names its thread. */
const ofThreads = (letters: string): AcceptedCandidate[] =>
  Array.from(letters, (postId, index) => ({ ...accepted(index + 1)[index]!, postId }));

/**
 * What becomes of each candidate: `.` a normal match, `t` suppressed for its thread, `c` suppressed by the cap of 200,
 * `-` not stored.
 */
test.each([
  { name: 'the first of a thread is a normal match', given: 'abab', expected: '..tt', threads: 'ab' },
  { name: 'a thread that had its match that day', had: 'a', given: 'abca', expected: 't..t', threads: 'bc' },
  { name: 'without thread_once', threadOnce: false, had: 'a', given: 'aaa', expected: '...', threads: '' },
  { name: 'suppressed ones leave the cap alone', matchesOfDay: 198, given: 'aaabc', expected: '.tt.c', threads: 'ab' },
  { name: 'the cap does not use up a thread', matchesOfDay: 200, given: 'aa', expected: 'cc', threads: '' },
  { name: 'over the cap, a thread that had its match', matchesOfDay: 200, had: 'a', given: 'ab', expected: 'tc' },
  { name: 'the ceiling counts both', matchesOfDay: 199, suppressedOfDay: 48, given: 'aabab', expected: '.tc--' },
  {
    name: 'at the ceiling new threads are normal',
    suppressedOfDay: 50,
    given: 'aabbc',
    expected: '.-.-.',
    threads: 'abc',
  },
])('thread_once: $name: $given -> $expected', (given) => {
  const { threadOnce = true, matchesOfDay = 0, suppressedOfDay = 0, had = '' } = given;
  const facts = counters({ threadOnce, matchesOfDay, suppressedOfDay, threadsOfDay: new Set(had), lastSeq: 4 });
  const { matches, advance, threads } = numberUpTo(facts, ofThreads(given.given), 50);
  const codes = new Map(
    matches.map((match) => [match.thingId, !match.suppressed ? '.' : match.suppressedReason ? 't' : 'c']),
  );
  expect(Array.from(given.given, (_, index) => codes.get(`t3_${index}`) ?? '-').join('')).toBe(given.expected);
  expect(matches.map(({ seq }) => seq)).toEqual(matches.map((_, index) => 5 + index));
  expect(matches.map(({ firstDelivery, nextAttemptAt }) => [firstDelivery, nextAttemptAt !== null])).toEqual(
    matches.map(({ suppressed }) => (suppressed ? ['skipped', false] : ['pending', true])),
  );
  if (given.threads !== undefined) expect(threads.join('')).toBe(given.threads);
  const countOf = (wanted: string) => Array.from(given.expected).filter((code) => wanted.includes(code)).length;
  expect(advance).toMatchObject({ matches: countOf('.'), suppressed: countOf('tc'), notStored: countOf('-') });
});

test('a candidate not stored for its thread is remembered apart from those over the cap', () => {
  const facts = counters({ threadOnce: true, matchesOfDay: 199, suppressedOfDay: 50 });
  const times = ['2026-03-01T11:59:01.000Z', '2026-03-01T11:59:03.000Z', '2026-03-01T11:59:02.000Z'];
  const candidates = ofThreads('aab').map((candidate, index) => ({ ...candidate, enteredAt: times[index]! }));
  const { advance } = numberUpTo(facts, candidates, 50);
  expect(advance).toMatchObject({ notStored: 2, threadsNotStoredUntil: times[1], notStoredUntil: times[2] });
});
