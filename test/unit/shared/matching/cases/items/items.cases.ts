import type { MatchItem, Rule } from '../../../../../../shared/matching/rule.ts';
import { comment, found, missed, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

type Terms = readonly string[];

/** A row for a comment with this text, and a monitor with these keywords and excluded terms. */
function excluding(keywords: Terms, exclude: Terms, text: string, expected: Terms | undefined): ItemCase {
  return { rule: '17 excludes', monitor: { keywords, exclude }, item: comment(text), expected };
}

function excludesGame(what: string, item: MatchItem, expected: Terms | undefined): ItemCase {
  return { rule: `17 an exclude ${what}`, monitor: { exclude: ['game', 'video over', 'removed'] }, item, expected };
}

function returned(keywords: Terms, item: MatchItem, expected: Terms | undefined): ItemCase {
  return { rule: '18 matched terms', monitor: { keywords }, item, expected };
}

function filtered(monitor: Partial<Rule>, item: Partial<MatchItem>, matches: boolean): ItemCase {
  return {
    rule: '19 filters',
    monitor,
    item: { ...comment('I like rust'), ...item },
    expected: matches ? ['rust'] : undefined,
  };
}

function within(subreddits: readonly string[], subreddit: string, matches: boolean): ItemCase {
  return { ...filtered({ subreddits }, { subreddit }, matches), rule: '19 communities' };
}

const TWENTY = Array.from({ length: 20 }, (_, number) => `Word${number}`);

export const ITEMS_CASES: readonly ItemCase[] = [
  // Rule 16: a post is searched in its title and its text, a comment in its text; nothing matches across the two.
  found('16 in the title', ['rust'], post('Rust 2.0 is out', '')),
  found('16 in the text', ['rust'], post('My first project', 'It is written in rust.')),
  found('16 in both', ['rust'], post('Rust', 'I like rust')),
  found('16 one keyword in the title, one in the text', ['go', 'rust'], post('Rust', 'or go?')),
  found('16 entities in the title', ['AT&T'], post('AT&amp;T is down', '')),
  found('16 a symbol at the end of the title', ['C++'], post('C++', '+1')),
  found('16 a symbol at the beginning of the text', ['.NET'], post('ASP', '.NET')),
  found('16 a word at the end of the title', ['rust'], post('rust', 'y bikes')),
  found('16 code of the title ends there', ['rust_lang'], post('`a', 'b` rust\\_lang')),
  found('16 code at the beginning of the text', ['rust'], post('- a', '    rust\\_lang')),
  found('16 a single letter at the end of the title', ['objective C'], post('objective C', '++')),
  found('16 no possessive across', ['rust'], post('rust', "'n more")),
  found('16 no combining mark across', ['cafe'], post('cafe', '\u0301')),
  found('16 a comment by its text', ['rust'], comment('rust, of course', 'Go or Python?')),
  missed('16 neither in the title nor in the text', ['rust'], post('My first project', 'It is written in go.')),
  missed('16 nothing at all', ['rust'], post('', '')),
  missed('16 nothing at all', ['rust'], comment('')),
  missed('16 a comment not by its title', ['rust'], comment('I prefer go', 'Rust or go?')),
  missed('16 a comment not by its title and text together', ['new york'], comment('york', 'new')),
  missed('16 no phrase across', ['new york'], post('new ', ' york')),
  missed('16 no phrase across', ['new york'], post('All new-', 'york')),
  missed('16 no characters across', ['手机'], post('手', '机')),
  missed('16 no symbols across', [':-)'], post(':-', ')')),
  missed('16 no word across', ['rust'], post('ru', 'st')),
  missed('16 no entity across', ['AT&T'], post('AT&am', 'p;T')),
  missed('16 not by the community', ['programming'], post('x', 'y')),

  // Rule 17: an item with an excluded term in a searched field does not match.
  excluding(['rust'], [], 'rust', ['rust']),
  excluding(['rust'], ['game'], 'rust, the language; gamers welcome', ['rust']),
  excluding(['rust', 'go'], ['game'], 'only go', ['go']),
  excluding(['york'], ['new york'], 'york', ['york']),
  excluding(['york'], ['new york'], 'new, york', ['york']),
  excluding(['new york'], ['york city'], 'new york', ['new york']),
  excluding(['rust'], ['trust'], 'rust', ['rust']),
  excluding(['rust'], ['C++'], 'rust or C+++?', ['rust']),
  excluding(['rust'], ['objective C'], 'rust, objective C++', ['rust']),
  excluding(['york', 'city'], ['  '], 'york', ['york']),
  excluding(['rust'], ['RUST'], 'rust', undefined),
  excluding(['rust', 'go'], ['game'], 'rust is a game, go is not', undefined),
  excluding(['rust'], ['bike', 'game', 'car'], 'rust on my car', undefined),
  excluding(['rust'], ['"video game"'], 'rust is a video\ngame', undefined),
  excluding(['york', 'city'], ['new york'], 'the city of New York', undefined),
  excluding(['new york'], ['york city'], 'New York City', undefined),
  excluding(['new york'], ['york'], 'new york', undefined),
  excluding(['机'], ['手机'], '手机', undefined),
  excluding(['rust'], [':)'], 'rust:))', undefined),
  excluding(['rust'], ['\u{1f44d}\u{1f3fd}'], 'rust\u{1f44d}', undefined),
  excluding(['rust'], ['wendy'], 'rust at Wendy\u2019s', undefined),
  excludesGame('in the title', post('My game', 'in rust'), undefined),
  excludesGame('in the text', post('Rust', 'My game'), undefined),
  excludesGame('not across title and text', post('Rust video', 'over'), ['rust']),
  excludesGame('in the title of a comment', comment('rust', 'My game'), ['rust']),
  excludesGame('in a deleted text', post('Rust', '[removed]'), ['rust']),

  // Rule 18: the matched terms are the keywords as written, in the monitor's order, each once.
  returned(['zig', 'rust', 'go', 'java'], comment('java rust'), ['rust', 'java']),
  returned(['RUST'], post('rust', 'rust'), ['RUST']),
  returned(['rust', 'go'], post('go', 'go rust go'), ['rust', 'go']),
  returned(['york', 'new', 'new york'], comment('New York'), ['york', 'new', 'new york']),
  returned(['new york times', 'york times', 'new york'], comment('york times, new york'), ['york times', 'new york']),
  returned(['no no'], comment('no no no no'), ['no no']),
  returned(['  Rust\t'], comment('rust'), ['  Rust\t']),
  returned(['_rust_'], comment('rust'), ['_rust_']),
  returned(['AT&amp;T'], comment('at&t'), ['AT&amp;T']),
  returned(['Wendy\u2019s', 'wendy'], comment("wendy's"), ['Wendy\u2019s', 'wendy']),
  returned(['C++', 'C', 'C#'], comment('I know c++'), ['C++']),
  returned(['$TSLA', 'TSLA'], comment('$tsla'), ['$TSLA', 'TSLA']),
  returned(['e-mail', 'e mail'], comment('E-Mail'), ['e-mail', 'e mail']),
  returned(['e-mail', 'e mail'], comment('e mail'), ['e mail']),
  returned(['iPhone手机', '手机', 'iphone'], comment('新iPhone手机'), ['iPhone手机', '手机', 'iphone']),
  returned(['Rust', 'rust', 'go'], comment('rust go'), ['Rust', 'go']),
  returned(['go', '"rust"', 'RUST', 'Rust'], comment('rust'), ['"rust"']),
  returned(TWENTY, comment(TWENTY.toReversed().join(' ').toLowerCase()), TWENTY),
  returned(['$TSLA'], comment('TSLA'), undefined),
  returned([], comment('rust'), undefined),
  returned(['""', ' '], comment('anything ""'), undefined),

  // Rule 19: communities, NSFW, and kinds of items.
  within([], 'rust', true),
  within(['rust'], 'RUST', true),
  within(['r/Rust'], 'rUsT', true),
  within(['/r/rust'], 'Rust', true),
  within(['rust'], 'r/rust', true),
  within(['python', 'golang', 'rust'], 'Rust', true),
  within(['u_somebody'], 'u_SomeBody', true),
  within(['rust'], 'learn_rust', false),
  within(['rustjerk'], 'rust', false),
  within(['python', 'golang'], 'rust', false),
  within(['rust'], '', false),
  filtered({ nsfw: true }, { nsfw: true }, true),
  filtered({ nsfw: true }, { nsfw: false }, true),
  filtered({ nsfw: false }, { nsfw: true }, false),
  filtered({ nsfw: false }, { kind: 'post', nsfw: true }, false),
  filtered({ nsfw: true, subreddits: ['go'] }, { subreddit: 'rust', nsfw: true }, false),
  filtered({ comments: false }, { kind: 'post' }, true),
  filtered({ posts: false }, { kind: 'comment' }, true),
  filtered({ comments: false }, { kind: 'comment' }, false),
  filtered({ posts: false }, { kind: 'post' }, false),
  filtered({ posts: false, comments: false }, { kind: 'comment' }, false),

  // Rule 20: what the site shows in place of a text or a title that is gone is not searched.
  ...[
    ...[
      '[deleted]',
      '[removed]',
      ' [removed]\n',
      '[ Removed by Reddit ]',
      '[Removed by moderator]',
      '[deleted by user]',
    ],
    '[ Removed by Reddit on account of violating the [content policy](/help/contentpolicy). ]',
  ].flatMap((text): ItemCase[] => [
    missed('20 a deleted comment', ['removed', '[deleted]', 'reddit'], comment(text)),
    missed('20 a deleted title', ['removed', 'deleted', 'reddit', 'user'], post(text, '')),
    missed('20 the text of a deleted post', ['removed', 'deleted'], post('', text)),
    { ...returned(['rust', 'removed', 'deleted'], post('Rust', text), ['rust']), rule: '20 only the title' },
  ]),
  ...['removed', '[removed] why?', '[[removed]]', '"[removed]"', '[Removed] again', '[removed by me]'].map((text) =>
    found('20 somebody who mentions it', ['removed'], comment(text)),
  ),
];
