/** Rule 24: `in` and `match_in` say in which texts a term counts. */
import type { MatchItem, Rule } from '../../../../../../shared/matching/rule.ts';
import { comment, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function row(what: string, monitor: Partial<Rule>, item: MatchItem, isFound: boolean): ItemCase {
  return { rule: `24 ${what}`, monitor, item, expected: isFound ? ['rust'] : undefined };
}
const inTexts = (...texts: NonNullable<Rule['matchIn']>): Partial<Rule> => ({ matchIn: texts });
const term = (...texts: NonNullable<Rule['matchIn']>): Partial<Rule> => ({
  keywords: [],
  terms: [{ text: 'rust', in: texts }],
});

export const SEARCHED_TEXTS_CASES: readonly ItemCase[] = [
  row('the title of a post', inTexts('title'), post('Rust', 'go'), true),
  row('the text of a post', inTexts('body'), post('Go', 'rust'), true),
  row('the text of a comment', inTexts('body'), comment('rust', 'Go'), true),
  row('the title of the post of a comment', inTexts('post_title'), comment('go', 'Rust?'), true),
  row('one of several', inTexts('body', 'post_title'), comment('go', 'Rust?'), true),
  row('an empty list means the usual ones', inTexts(), post('Rust', ''), true),
  row('all texts', inTexts('title', 'body', 'post_title'), comment('go', 'Rust?'), true),
  row('a term in the title', term('title'), post('Rust', 'rust'), true),
  row('a term in the title of the post', term('post_title'), comment('rust', 'Rust'), true),
  row('in replaces match_in', { ...term('body'), matchIn: ['title'] }, post('', 'rust'), true),
  row('in limits no other term', { terms: [{ text: 'go', in: ['title'] }] }, post('', 'rust, go'), true),
  row('excluded terms where they are not searched', { exclude: ['go'] }, comment('rust', 'Go'), true),
  row('only in the text of a post', inTexts('title'), post('Go', 'rust'), false),
  row('only in the title of a post', inTexts('body'), post('Rust', 'go'), false),
  row('a comment has no title', inTexts('title'), comment('rust', 'rust'), false),
  row('a post has no title of its post', inTexts('post_title'), post('rust', 'rust'), false),
  row('not the title of the post of a comment', inTexts('title', 'body'), comment('go', 'rust'), false),
  row('a term not in the title', term('title'), post('Go', 'rust'), false),
  row('in replaces match_in, which has it', { ...term('title'), matchIn: ['body'] }, post('', 'rust'), false),
  row('excluded terms outside', { ...inTexts('title'), exclude: ['go'] }, post('rust', 'go'), false),
  row(
    'excluded terms in the title of the post',
    { ...inTexts('post_title'), exclude: ['go'] },
    comment('x', 'rust, go'),
    false,
  ),
  row('excluded terms in the text, too', { ...inTexts('post_title'), exclude: ['go'] }, comment('go', 'rust'), false),
  row('a deleted text', inTexts('body', 'title'), comment('[removed]', 'rust'), false),
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
];
