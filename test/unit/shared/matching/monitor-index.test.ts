import { expect, test, vi } from 'vitest';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';

const RULE: Rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });
const idsOf = (index: MonitorIndex, text: string): string[] =>
  index
    .match(comment(text))
    .map(({ monitorId }) => monitorId)
    .sort();

test('returns every matching monitor with its own terms and payload', () => {
  const index = new MonitorIndex<{ version: number }>();
  index.set('a', { ...RULE, keywords: ['Rust', 'go'] }, { version: 1 });
  index.set('b', { ...RULE, keywords: ['go', 'RUST'] }, { version: 2 });
  index.set('c', { ...RULE, keywords: ['python'] }, { version: 3 });
  const results = index.match(comment('rust')).sort((one, other) => one.monitorId.localeCompare(other.monitorId));
  expect(results).toEqual([
    {
      monitorId: 'a',
      matchedTerms: ['Rust'],
      positions: [{ field: 'text', start: 0, end: 4 }],
      payload: { version: 1 },
    },
    {
      monitorId: 'b',
      matchedTerms: ['RUST'],
      positions: [{ field: 'text', start: 0, end: 4 }],
      payload: { version: 2 },
    },
  ]);
  index.set('a', { ...RULE, keywords: ['Rust'] }, { version: 4 });
  expect(index.match(comment('rust')).find(({ monitorId }) => monitorId === 'a')?.payload).toEqual({ version: 4 });
});

test('replaces a rule in place: only the new rule counts', () => {
  const index = new MonitorIndex();
  index.set('a', { ...RULE, keywords: ['rust', 'new york'], exclude: ['game'] });
  index.set('a', { ...RULE, keywords: ['new york times', 'game'] });
  expect(index.size).toBe(1);
  expect(idsOf(index, 'rust')).toEqual([]);
  expect(idsOf(index, 'new york')).toEqual([]);
  expect(idsOf(index, 'new york times')).toEqual(['a']);
  expect(idsOf(index, 'game')).toEqual(['a']);
});

test('removing a monitor keeps the words that other monitors share with it', () => {
  const index = new MonitorIndex();
  index.set('long', { ...RULE, keywords: ['new york times'] });
  index.set('short', { ...RULE, keywords: ['new york'] });
  index.set('exclude', { ...RULE, keywords: ['york'], exclude: ['new york'] });
  index.set('twin', { ...RULE, keywords: ['new york'] });
  expect(idsOf(index, 'new york times')).toEqual(['long', 'short', 'twin']);

  index.remove('short');
  expect(idsOf(index, 'new york times')).toEqual(['long', 'twin']);
  index.remove('twin');
  expect(idsOf(index, 'new york times')).toEqual(['long']);
  index.remove('long');
  expect(idsOf(index, 'new york times')).toEqual([]);
  expect(idsOf(index, 'york')).toEqual(['exclude']);
  index.remove('exclude');
  expect(index.size).toBe(0);
  expect(idsOf(index, 'york')).toEqual([]);
});

test('removes each of several terms with a common prefix alone', () => {
  const phrases = ['new', 'new york', 'new york times', 'new york post', 'new jersey'];
  for (const first of phrases) {
    for (const second of phrases) {
      const index = new MonitorIndex();
      for (const phrase of phrases) index.set(phrase, { ...RULE, keywords: [phrase] });
      index.remove(first);
      index.remove(second);
      const left = phrases.filter((phrase) => phrase !== first && phrase !== second).sort();
      expect(idsOf(index, 'new york times, new york post, new jersey')).toEqual(left);
    }
  }
});

test('removes each of several terms that differ only in a hyphen alone', () => {
  for (const [gone, kept] of [
    ['new york', 'new-york'],
    ['new-york', 'new york'],
  ] as const) {
    const index = new MonitorIndex();
    index.set('gone', { ...RULE, keywords: [gone] });
    index.set('kept', { ...RULE, keywords: [kept] });
    index.remove('gone');
    expect(idsOf(index, 'in new-york')).toEqual(['kept']);
  }
});

test('ignores the removal of an unknown monitor', () => {
  const index = new MonitorIndex();
  index.set('a', RULE);
  index.remove('b');
  index.remove('a');
  index.remove('a');
  expect(index.size).toBe(0);
  index.set('a', RULE);
  expect(idsOf(index, 'rust')).toEqual(['a']);
});

test('a term that occurs twice in a rule is acquired and released once', () => {
  const index = new MonitorIndex();
  index.set('a', { ...RULE, keywords: ['rust', 'Rust'], exclude: ['go', 'GO'] });
  index.set('b', { ...RULE, keywords: ['go'] });
  index.remove('a');
  expect(idsOf(index, 'rust go')).toEqual(['b']);
});

test('a rehearsal matches items of the terms of some monitors, and changes nothing', () => {
  const index = new MonitorIndex();
  expect([...index.rehearse(2)]).toEqual([]);
  const rules: Rule[] = [
    RULE,
    { ...RULE, keywords: ['new york', 'C++'], exclude: ['rust'] },
    {
      ...RULE,
      keywords: [],
      terms: [
        { text: 'IT', caseSensitive: true },
        { text: 'hir', prefix: true },
      ],
    },
    { ...RULE, keywords: ['go'] },
    { ...RULE, keywords: [] },
  ];
  for (const [number, rule] of rules.entries()) index.set(`${number}`, rule);
  const text = 'rust in New York, IT hires, go';
  const before = index.match(comment(text));
  let items = 0;
  for (const _ of index.rehearse(2)) {
    items++;
    expect(index.steps).toBeGreaterThan(0);
  }
  expect(items).toBe(2);
  expect([...index.rehearse(100)]).toHaveLength(rules.length);
  expect(index.match(comment(text))).toEqual(before);
});

test.each([3, 4, 5, 400])('a rehearsal among %i monitors uses both ways to match', (monitors) => {
  const index = new MonitorIndex();
  for (let number = 0; number < monitors; number++) index.set(`${number}`, RULE);
  const match = vi.spyOn(index, 'match');
  const forEachMatch = vi.spyOn(index, 'forEachMatch');
  const items = [...index.rehearse(2)].length;
  expect(items).toBe(2);
  expect([match, forEachMatch].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});

test('a rehearsal ends soon where each item matches all monitors', () => {
  const index = new MonitorIndex();
  for (let number = 0; number < 50_000; number++) index.set(`${number}`, RULE);
  expect([...index.rehearse(200)].length).toBeLessThan(15);
});
