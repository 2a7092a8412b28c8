import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { isVisible, plainLine, matchExcerpt } from '../../../../../shared/deliveries/rules/chat-text.ts';
import { NearMissFinder } from '../../../../../shared/matching/near-miss.ts';
import { chatMatch, hostileMatch } from '../../../../support/samples/chat-matches.ts';

const length = (text: string) => text.length;
const excerptOf = (body: string, limit = 60, keyword = 'rust') =>
  matchExcerpt(chatMatch({ body, matched_terms: [keyword] }), limit, length);
const WORDS = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');

describe('matchExcerpt', () => {
  test('is the whole text where that fits', () => {
    expect(excerptOf('It may\n\n rust\there.')).toEqual({ before: 'It may ', hit: 'rust', after: ' here.' });
  });

  test('lies around the hit, cut at words on both sides', () => {
    const { before, hit, after } = excerptOf(`${WORDS} rust ${WORDS}`)!;
    expect([before, hit, after]).toEqual(['…word397 word398 word399 ', 'rust', ' word0 word1 word2 word3…']);
  });

  test('finds the hit by the rules of matching: not in trust, and over a line break and a hyphen', () => {
    expect(excerptOf('trust RUST')).toEqual({ before: 'trust ', hit: 'RUST', after: '' });
    expect(excerptOf('a new-york b', 60, '"New York"')!.hit).toBe('new-york');
  });

  test('is the beginning of the text where only the title has the hit', () => {
    const match = chatMatch({ kind: 'post', title: 'Rust', body: WORDS });
    expect(matchExcerpt(match, 20, length)).toEqual({ before: '', hit: '', after: 'word0 word1 word2…' });
  });

  test('is the beginning of the text where only the title of the comment’s post has the hit', () => {
    const match = chatMatch({ kind: 'comment', title: 'Rust', body: `Not rusty ${WORDS}` });
    expect(matchExcerpt(match, 20, length)).toEqual({ before: '', hit: '', after: 'Not rusty word0…' });
  });

  test('looks for no near misses, which takes many times as long in a long text', () => {
    const find = vi.spyOn(NearMissFinder.prototype, 'find');
    expect(excerptOf('We are Hiring.', 60, 'hir')!.hit).toBe('Hiring');
    expect(find).not.toHaveBeenCalled();
    find.mockRestore();
  });

  test.each(['', '\n \t', '\u200b\u2060\u2800\ufe0f', '\u202e\0'])('has no excerpt for %j', (body) => {
    expect(excerptOf(body)).toBeUndefined();
  });

  test('does not part a character from its marks at the end of the hit', () => {
    expect(excerptOf('so 👍🏽\u200d ok', 60, '👍')).toMatchObject({ before: 'so ', after: ' ok' });
  });

  test('stays within the limit, keeps no half of a pair and no second line, whatever the texts are', () => {
    const measure = (text: string) => text.length + text.split('*').length - 1;
    fc.assert(
      fc.property(hostileMatch, fc.integer({ min: 1, max: 700 }), ({ match }, limit) => {
        const excerpt = matchExcerpt(match, limit, measure);
        expect(excerpt === undefined).toBe(!isVisible(match.body));
        if (!excerpt) return;
        const text = excerpt.before + excerpt.hit + excerpt.after;
        expect(measure(text)).toBeLessThanOrEqual(limit);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/[\r\n\u2028\u2029\u202a-\u202e\u2066-\u2069]|\p{Cc}/u);
        const parts = text.split('…').map((part) => part.trim());
        for (const part of parts) expect(plainLine(match.body)).toContain(part);
      }),
      { numRuns: 100 },
    );
  });
});
