/** Rule 22: a prefix is one word that longer words may continue. */
import type { RuleTerm } from '../../../../../../shared/matching/rule.ts';
import { comment, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function row(what: string, text: string, written: string, isFound: boolean): ItemCase {
  const terms: RuleTerm[] = [{ text, prefix: true }];
  return {
    rule: `22 ${what}`,
    monitor: { keywords: [], terms },
    item: comment(written),
    expected: isFound ? [text] : undefined,
  };
}

export const PREFIX_CASES: readonly ItemCase[] = [
  row('the word itself', 'hir', 'hir', true),
  row('a longer word', 'hir', 'We are HIRING!', true),
  row('after punctuation', 'hir', 'now (hiring)', true),
  row('a word with digits', 'web', 'web3', true),
  row('a word with an underscore', 'rust', 'rust_lang', true),
  row('across an inner underscore', 'rust_l', '_rust_lang_', true),
  row('a word with an apostrophe', 'rust', "rust'll", true),
  row('across an apostrophe', 'don’t', "don'ts", true),
  row('a possessive', 'hir', "hire's", true),
  row('the first part of a hyphenated word', 'back', 'back-end', true),
  row('other alphabets', 'программ', 'ПРОГРАММИСТ', true),
  row('an accent in another encoding', 'café', 'cafe\u0301s', true),
  row('letters of another width', 'hir', 'ｈｉｒｉｎｇ', true),
  row('invisible characters', 'hiring', 'hir\u200bings', true),
  row('before a script without spaces', 'rus', 'rust写', true),
  row('a shorter word', 'hiring', 'hirin', false),
  row('within a word', 'hir', 'shirt', false),
  row('at the end of a word', 'hir', 'ahir', false),
  row('after an underscore', 'lang', 'rust_lang', false),
  row('after an apostrophe', 'clock', "o'clock", false),
  row('another accent', 'cafe', 'cafés', false),
  row('words that only begin alike', 'hiring', 'hire', false),
  row('a prefix over two words', 'newyork', 'new york', false),
  row('nothing', 'hir', '', false),
  row('a deleted text', 'del', '[deleted]', false),
  {
    rule: '22 nested prefixes and the word',
    monitor: { keywords: ['hiring'], terms: ['hire', 'hir', 'hirings'].map((text) => ({ text, prefix: true })) },
    item: post('Hiring', ''),
    expected: ['hiring', 'hir'],
  },
  {
    rule: '22 two terms are ignored as prefixes and found as they are',
    monitor: { keywords: [], terms: ['new york', 'c++', 'go'].map((text) => ({ text, prefix: true })) },
    item: comment('new yorker, new york, go c++'),
    expected: ['new york', 'c++', 'go'],
  },
  {
    rule: '22 an excluded term is never a prefix',
    monitor: { keywords: [], terms: [{ text: 'hir', prefix: true }], exclude: ['hir'] },
    item: comment('hiring'),
    expected: ['hir'],
  },
];
