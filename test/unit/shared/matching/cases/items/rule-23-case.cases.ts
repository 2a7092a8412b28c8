/** Rule 23: the letters of a case-sensitive term are compared as written, and everything else as always. */
import { comment } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function row(what: string, text: string, written: string, isFound: boolean): ItemCase {
  return {
    rule: `23 ${what}`,
    monitor: { keywords: [], terms: [{ text, caseSensitive: true }] },
    item: comment(written),
    expected: isFound ? [text] : undefined,
  };
}

export const CASE_CASES: readonly ItemCase[] = [
  row('the same case', 'IT', 'a job in IT.', true),
  row('not only the first occurrence counts', 'IT', 'is it in IT?', true),
  row('a possessive', 'IT', "IT's", true),
  row('a possessive in another case', 'IT', "IT'S", true),
  row("a term's possessive in another case", "Wendy's", "Wendy'S", false),
  row("a term's possessive in the same case", "WENDY'S", "Wendy's, WENDY’S", true),
  row('a term with a symbol before a possessive in another case', "C++'s", "C++'S, C++'s", true),
  row('mixed case', 'GitHub', 'on GitHub', true),
  row('a phrase', 'New York', 'in New\n York', true),
  row('a phrase with a hyphen', 'New York', 'the New-York Times', true),
  row('after the same phrase in another case', 'New York', 'new york, New York', true),
  row('punctuation', 'Node.js', 'with Node.js 20', true),
  row('punctuation and a space', 'C++ Developer', 'a C++-Developer', true),
  row('symbols have no case', 'c++', 'c++', true),
  row('scripts without spaces', '手机', '买手机', true),
  row('mixed scripts', 'iPhone手机', '新iPhone手机', true),
  row('full-width letters', 'IT', 'ＩＴ', true),
  row('mathematical letters', 'IT', '𝗜𝗧', true),
  row('an accent in another encoding', 'Édith', 'E\u0301dith', true),
  row('entities', 'AT&T', 'AT&amp;T', true),
  row('quotes around the term', 'IT', '"IT"', true),
  row('letters with two cases', 'Straße', 'Straße', true),
  row('another alphabet', 'Жар', 'Жар', true),
  row('a circled letter', 'Ⓐ', 'aⒶb', true),
  row('a letter that is composed only when it is small', 'H\u0331a', 'H\u0331a', true),
  row('lower case', 'IT', 'it', false),
  row('one other letter', 'IT', 'It', false),
  row('upper case', 'Go', 'GO', false),
  row('a part of a word', 'IT', 'ITs', false),
  row('a phrase with one other letter', 'New York', 'New york', false),
  row('a phrase over a comma', 'New York', 'New, York', false),
  row('punctuation with another letter', 'Node.js', 'node.js', false),
  row('mixed scripts in another case', 'iPhone手机', 'IPHONE手机', false),
  row('ß and ẞ', 'Straße', 'STRAẞE', false),
  row('another alphabet in another case', 'Жар', 'жар', false),
  row('a circled letter in another case', 'Ⓐ', 'aⓐb', false),
  row('a letter that is composed only when it is small, which it is', 'H\u0331a', 'ẖa', false),
  row('the long s is a letter of its own', 'sun', 'ſun', false),
  row('a single letter before +', 'Objective C', 'Objective C++', false),
  {
    rule: '23 the same word in three cases',
    monitor: { keywords: ['Us'], terms: ['US', 'us', 'Us'].map((text) => ({ text, caseSensitive: true })) },
    item: comment('to us, in the US'),
    expected: ['Us', 'US', 'us'],
  },
  {
    rule: '23 as a prefix',
    monitor: {
      keywords: [],
      terms: ['Hir', 'hir', 'HIR'].map((text) => ({ text, caseSensitive: true, prefix: true })),
    },
    item: comment('hiring Hires'),
    expected: ['Hir', 'hir'],
  },
  {
    rule: '23 as a prefix in another case',
    monitor: { keywords: [], terms: [{ text: 'Hir', caseSensitive: true, prefix: true }] },
    item: comment('hiring HIRES hIR'),
    expected: undefined,
  },
];
