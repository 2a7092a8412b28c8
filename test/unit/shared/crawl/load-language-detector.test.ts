import { eld } from 'eld/extrasmall';
import { describe, expect, test } from 'vitest';
import { ITEM_LANGUAGES, UNDECIDED_LANGUAGE } from '../../../../schemas/messages/forum-item.ts';
import { loadLanguageDetector } from '../../../../shared/crawl/load-language-detector.ts';
import { COMMENTS, UNDECIDED } from './load-language-detector.cases.ts';

const detect = await loadLanguageDetector();
const QUOTED = '> I think that this is the best answer that anyone has given in this thread so far.\n\n';
const CODE = '```\nfor (const value of values) {\n  if (value === undefined) continue;\n  total += value;\n}\n```\n';

test('the languages of the contract are those of the detector', () => {
  expect(ITEM_LANGUAGES).toEqual(Object.values(eld.info().Languages).sort());
});

describe('the language of a comment', () => {
  test.each(Object.entries(COMMENTS))('in %s', (language, text) => {
    expect(ITEM_LANGUAGES).toContain(language);
    expect(detect([text])).toBe(language);
  });

  test('in German after quotations, code and addresses in English', () => {
    for (const before of [QUOTED, CODE, 'https://example.org/the-best-guide-to-everything-you-need ']) {
      expect(detect([before + COMMENTS['de']!])).toBe('de');
    }
  });

  test.each(UNDECIDED)('is not decided for $name', ({ texts }) => {
    expect(detect(texts)).toBe(UNDECIDED_LANGUAGE);
  });
});

test('a post has the language of its title and text together', () => {
  expect(detect(['Der neue Kaffee', 'schmeckt mir nicht so gut wie der alte.'])).toBe('de');
  expect(detect(['Welche Kaffeemühle könnt ihr empfehlen?', ''])).toBe('de');
});

test('short texts in scripts of one language are decided, a few of their letters within another language are not', () => {
  expect(detect(['여기 좋아요'])).toBe('ko');
  expect(detect(['おいしかった'])).toBe('ja');
  expect(detect(['They have it as コーヒー on the menu, which is how it is written in Japan.'])).toBe('en');
});
