import type { MatchItem, Rule, RuleTerm } from '../../../../../../shared/matching/rule.ts';
import { comment, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function prefix(what: string, text: string, written: string, isFound: boolean): ItemCase {
  const terms: RuleTerm[] = [{ text, prefix: true }];
  return {
    rule: `22 ${what}`,
    monitor: { keywords: [], terms },
    item: comment(written),
    expected: isFound ? [text] : undefined,
  };
}

function cased(what: string, text: string, written: string, isFound: boolean): ItemCase {
  return {
    rule: `23 ${what}`,
    monitor: { keywords: [], terms: [{ text, caseSensitive: true }] },
    item: comment(written),
    expected: isFound ? [text] : undefined,
  };
}

function searched(what: string, monitor: Partial<Rule>, item: MatchItem, isFound: boolean): ItemCase {
  return { rule: `24 ${what}`, monitor, item, expected: isFound ? ['rust'] : undefined };
}
const inTexts = (...texts: NonNullable<Rule['matchIn']>): Partial<Rule> => ({ matchIn: texts });
const term = (...texts: NonNullable<Rule['matchIn']>): Partial<Rule> => ({
  keywords: [],
  terms: [{ text: 'rust', in: texts }],
});

function required(
  what: string,
  require: NonNullable<Rule['require']>,
  item: MatchItem,
  isFound: boolean,
  more: Partial<Rule> = {},
): ItemCase {
  return { rule: `25 ${what}`, monitor: { require, ...more }, item, expected: isFound ? ['rust'] : undefined };
}
const JOBS = ['hiring', 'job'];
const PLACES = ['remote', 'new york'];

function named(what: string, monitor: Partial<Rule>, about: Partial<MatchItem>, isFound: boolean): ItemCase {
  return {
    rule: `26 ${what}`,
    monitor,
    item: { ...comment('rust'), ...about },
    expected: isFound ? ['rust'] : undefined,
  };
}

function spoken(languages: string[], language: string | undefined, item: MatchItem, isFound: boolean): ItemCase {
  return {
    rule: `27 ${languages.join(' or ') || 'any'}: ${language ?? 'no language'}`,
    monitor: { languages },
    item: language === undefined ? item : { ...item, language },
    expected: isFound ? ['rust'] : undefined,
  };
}
const COMMENT = comment('rust');
const POST = post('rust', '');

export const CONDITIONS_CASES: readonly ItemCase[] = [
  // Rule 22: a prefix is one word that longer words may continue.
  prefix('the word itself', 'hir', 'hir', true),
  prefix('a longer word', 'hir', 'We are HIRING!', true),
  prefix('a word with an underscore', 'rust', 'rust_lang', true),
  prefix('a word with an apostrophe', 'rust', "rust'll", true),
  prefix('across an apostrophe', 'don’t', "don'ts", true),
  prefix('after an elided word', 'art', "d'Artagnan", true),
  prefix('with an elided word', "d'art", 'D’Artagnan’s', true),
  prefix('with another elided word', "d'art", "l'artiste", false),
  prefix('longer than an elided word and not it', 'del', "dell'arte", true),
  prefix('the first part of a hyphenated word', 'back', 'back-end', true),
  prefix('other alphabets', 'программ', 'ПРОГРАММИСТ', true),
  prefix('an accent in another encoding', 'café', 'cafe\u0301s', true),
  prefix('invisible characters', 'hiring', 'hir\u200bings', true),
  prefix('before a script without spaces', 'rus', 'rust写', true),
  prefix('a shorter word', 'hiring', 'hirin', false),
  prefix('within a word', 'hir', 'shirt', false),
  prefix('after an underscore', 'lang', 'rust_lang', false),
  prefix('after an apostrophe', 'clock', "o'clock", false),
  prefix('words that only begin alike', 'hiring', 'hire', false),
  prefix('a prefix over two words', 'newyork', 'new york', false),
  prefix('nothing', 'hir', '', false),
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

  // Rule 23: the letters of a case-sensitive term are compared as written, and everything else as always.
  cased('the same case', 'IT', 'a job in IT.', true),
  cased('not only the first occurrence counts', 'IT', 'is it in IT?', true),
  cased('a possessive in another case', 'IT', "IT'S", true),
  cased("a term's possessive in another case", "Wendy's", "Wendy'S", false),
  cased("a term's possessive in the same case", "WENDY'S", "Wendy's, WENDY’S", true),
  cased('a term with a symbol before a possessive in another case', "C++'s", "C++'S, C++'s", true),
  cased('a phrase', 'New York', 'in New\n York', true),
  cased('after the same phrase in another case', 'New York', 'new york, New York', true),
  cased('scripts without spaces', '手机', '买手机', true),
  cased('full-width letters', 'IT', 'ＩＴ', true),
  cased('an accent in another encoding', 'Édith', 'E\u0301dith', true),
  cased('entities', 'AT&T', 'AT&amp;T', true),
  cased('a circled letter', 'Ⓐ', 'aⒶb', true),
  cased('a letter that is composed only when it is small', 'H\u0331a', 'H\u0331a', true),
  cased('lower case', 'IT', 'it', false),
  cased('a part of a word', 'IT', 'ITs', false),
  cased('mixed scripts in another case', 'iPhone手机', 'IPHONE手机', false),
  cased('ß and ẞ', 'Straße', 'STRAẞE', false),
  cased('a circled letter in another case', 'Ⓐ', 'aⓐb', false),
  cased('a letter that is composed only when it is small, which it is', 'H\u0331a', 'ẖa', false),
  cased('the long s is a letter of its own', 'sun', 'ſun', false),
  cased('a single letter before +', 'Objective C', 'Objective C++', false),
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

  // Rule 24: `in` and `match_in` say in which texts a term counts.
  searched('the title of a post', inTexts('title'), post('Rust', 'go'), true),
  searched('the text of a post', inTexts('body'), post('Go', 'rust'), true),
  searched('the title of the post of a comment', inTexts('post_title'), comment('go', 'Rust?'), true),
  searched('an empty list means the usual ones', inTexts(), post('Rust', ''), true),
  searched('a term in the title of the post', term('post_title'), comment('rust', 'Rust'), true),
  searched('in replaces match_in', { ...term('body'), matchIn: ['title'] }, post('', 'rust'), true),
  searched('in limits no other term', { terms: [{ text: 'go', in: ['title'] }] }, post('', 'rust, go'), true),
  searched('excluded terms where they are not searched', { exclude: ['go'] }, comment('rust', 'Go'), true),
  searched('only in the title of a post', inTexts('body'), post('Rust', 'go'), false),
  searched('a comment has no title', inTexts('title'), comment('rust', 'rust'), false),
  searched('a post has no title of its post', inTexts('post_title'), post('rust', 'rust'), false),
  searched('not the title of the post of a comment', inTexts('title', 'body'), comment('go', 'rust'), false),
  searched('in replaces match_in, which has it', { ...term('title'), matchIn: ['body'] }, post('', 'rust'), false),
  searched('excluded terms outside', { ...inTexts('title'), exclude: ['go'] }, post('rust', 'go'), false),
  searched('excluded terms there, too', { ...inTexts('post_title'), exclude: ['go'] }, comment('x', 'rust, go'), false),
  searched('and in the text', { ...inTexts('post_title'), exclude: ['go'] }, comment('go', 'rust'), false),
  {
    rule: '24 the same word in two texts',
    monitor: {
      keywords: [],
      terms: [
        { text: 'Rust', in: ['title'] },
        { text: 'rust', in: ['body'] },
      ],
    },
    item: post('rust', 'rust'),
    expected: ['Rust', 'rust'],
  },
  {
    rule: '24 the same text twice is named once',
    monitor: { keywords: ['rust'], terms: [{ text: 'rust', in: ['title'] }] },
    item: post('rust', 'rust'),
    expected: ['rust'],
  },

  // Rule 25: an item must have a term of each group as well.
  required('one group', [JOBS], comment('a rust job'), true),
  required('two groups', [JOBS, PLACES], comment('rust job, remote'), true),
  required('the keyword itself', [['rust']], comment('rust'), true),
  required('no groups', [], comment('rust'), true),
  required('a prefix', [[{ text: 'hir', prefix: true }]], comment('rust: we are hiring'), true),
  required('case', [[{ text: 'IT', caseSensitive: true }]], comment('it is rust in IT'), true),
  required('in the title', [[{ text: 'job', in: ['title'] }]], post('Job', 'rust'), true),
  required('match_in counts for groups', [['job']], post('Rust job', ''), true, { matchIn: ['title'] }),
  required('not met', [JOBS], comment('rust'), false),
  required('only the first group', [JOBS, PLACES], comment('rust job'), false),
  required('another case', [[{ text: 'IT', caseSensitive: true }]], comment('rust it'), false),
  required('not in the title', [[{ text: 'job', in: ['title'] }]], post('Rust', 'job'), false),
  required('match_in limits groups', [['job']], post('Rust', 'job'), false, { matchIn: ['title'] }),
  required('an excluded term', [JOBS], comment('rust job, no go'), false, { exclude: ['go'] }),
  required('a group with nothing to match', [JOBS, ['""']], comment('rust job'), false),
  required('a group without terms', [[]], comment('rust'), false),
  {
    rule: '25 hits of a group are not named',
    monitor: { keywords: ['rust', 'go'], require: [['go', 'job']] },
    item: comment('go job rust'),
    expected: ['rust', 'go'],
  },

  // Rule 26: lists of communities and accounts decide after the terms.
  named('another community', { excludeSubreddits: ['rust'] }, { subreddit: 'go' }, true),
  named('the excluded community', { excludeSubreddits: ['rust'] }, { subreddit: 'rust' }, false),
  named('in another case', { excludeSubreddits: ['Rust'] }, { subreddit: 'RUST' }, false),
  named('with a prefix', { excludeSubreddits: ['go', 'r/rust'] }, { subreddit: 'rust' }, false),
  named('one of the authors', { authors: ['one', 'two'] }, { author: 'two' }, true),
  named('in another case', { authors: ['Some_Body'] }, { author: 'some_body' }, true),
  named('with a prefix', { authors: ['u/one', '/u/two'] }, { author: 'two' }, true),
  named('no authors', { authors: [] }, { author: 'one' }, true),
  named('another author', { authors: ['one'] }, { author: 'two' }, false),
  named('an account that is deleted', { authors: ['one'] }, { author: '[deleted]' }, false),
  named('deleted accounts are no author', { authors: ['[deleted]'] }, { author: '[deleted]' }, false),
  named('an unknown author', { authors: ['one'] }, {}, false),
  named('another author', { excludeAuthors: ['AutoModerator'] }, { author: 'one' }, true),
  named('an unknown author', { excludeAuthors: ['one'] }, {}, true),
  named('an account that is deleted', { excludeAuthors: ['[deleted]'] }, { author: '[deleted]' }, true),
  named('the excluded author', { excludeAuthors: ['AutoModerator'] }, { author: 'AutoModerator' }, false),
  named('in another case', { excludeAuthors: ['u/automoderator'] }, { author: 'AutoModerator' }, false),

  // Rule 27: an item must be in one of the languages.
  spoken(['en'], 'en', COMMENT, true),
  spoken(['de', 'en'], 'de', COMMENT, true),
  spoken(['und'], 'und', COMMENT, true),
  spoken(['und'], undefined, COMMENT, true),
  spoken([], 'de', COMMENT, true),
  spoken([], undefined, COMMENT, true),
  spoken(['en'], 'de', COMMENT, false),
  spoken(['en'], undefined, COMMENT, false),
  spoken(['und'], 'en', COMMENT, false),
  spoken(['de', 'fr'], undefined, POST, false),
];
