/**
 * Rules 16 to 20 as data: what is looked at, excludes, what is returned, filters, and texts that are none.
 * A monitor watches for `rust` in posts and comments of all communities, NSFW not, unless the row says otherwise.
 */
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';

export interface ItemCase {
  rule: string;
  monitor: Partial<Rule>;
  item: MatchItem;
  /** The matched terms, or undefined for no match. */
  expected: readonly string[] | undefined;
}

/** What a row leaves out of its monitor. */
export const ITEM_CASE_RULE: Rule = {
  keywords: ['rust'],
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
};

function post(title: string, text: string): MatchItem {
  return { kind: 'post', title, text, subreddit: 'programming', nsfw: false };
}

function comment(text: string, title = ''): MatchItem {
  return { kind: 'comment', title, text, subreddit: 'programming', nsfw: false };
}

function found(rule: string, keywords: readonly string[], item: MatchItem): ItemCase {
  return { rule, monitor: { keywords }, item, expected: keywords };
}

function missed(rule: string, keywords: readonly string[], item: MatchItem): ItemCase {
  return { rule, monitor: { keywords }, item, expected: undefined };
}

/** A comment with this text, under the keywords and excluded terms. */
function excluding(
  keywords: readonly string[],
  exclude: readonly string[],
  text: string,
  expected: readonly string[] | undefined,
): ItemCase {
  return { rule: '17 excludes', monitor: { keywords, exclude }, item: comment(text), expected };
}

function returned(keywords: readonly string[], item: MatchItem, expected: readonly string[] | undefined): ItemCase {
  return { rule: '18 matched terms', monitor: { keywords }, item, expected };
}

function within(subreddits: readonly string[], subreddit: string, matches: boolean): ItemCase[] {
  return [post('rust', ''), comment('rust')].map((item) => ({
    rule: '19 communities',
    monitor: { subreddits },
    item: { ...item, subreddit },
    expected: matches ? ['rust'] : undefined,
  }));
}

function filtered(monitor: Partial<Rule>, item: Partial<MatchItem>, matches: boolean): ItemCase {
  return {
    rule: '19 filters',
    monitor,
    item: { ...comment('I like rust'), ...item },
    expected: matches ? ['rust'] : undefined,
  };
}

const PLACES: readonly ItemCase[] = [
  found('16 in the title', ['rust'], post('Rust 2.0 is out', '')),
  found('16 in the title', ['rust'], post('[Media] my first RUST project', 'Tell me what you think.')),
  found('16 in the text', ['rust'], post('My first project', 'It is written in rust.')),
  found('16 in the text', ['rust'], post('', 'rust')),
  found('16 in both', ['rust'], post('Rust', 'I like rust')),
  found('16 a phrase in the title', ['new york'], post('Moving to New-York', 'york new')),
  found('16 a phrase in the text', ['new york'], post('york new', 'Moving to New\nYork')),
  found('16 one keyword in the title, one in the text', ['rust', 'go'], post('Rust', 'or go?')),
  found('16 one keyword in the title, one in the text', ['go', 'rust'], post('Rust', 'or go?')),
  found('16 characters in the title', ['手机'], post('买手机', '')),
  found('16 entities in the title', ['AT&T'], post('AT&amp;T is down', '')),
  found('16 a symbol at the end of the title', ['C++'], post('C++', '+1')),
  found('16 a symbol at the beginning of the text', ['.NET'], post('ASP', '.NET')),
  found('16 a word at the end of the title', ['rust'], post('rust', 'y bikes')),
  found('16 a word at the beginning of the text', ['rust'], post('t', 'rust')),
  found('16 a single letter at the end of the title', ['objective C'], post('objective C', '++')),
  found('16 a possessive across is none', ['rust'], post('rust', "'n more")),
  found('16 a mark across belongs to nothing', ['cafe'], post('cafe', '\u0301')),
  found('16 a comment by its text', ['rust'], comment('rust')),
  found('16 a comment by its text', ['rust'], comment('rust, of course', 'Go or Python?')),
  found('16 a comment by its text', ['new york'], comment('In New York', 'In New York')),

  missed('16 neither in the title nor in the text', ['rust'], post('My first project', 'It is written in go.')),
  missed('16 nothing at all', ['rust'], post('', '')),
  missed('16 nothing at all', ['rust'], comment('')),
  missed('16 only spaces', ['rust'], post('  ', '\n\n')),
  missed('16 a comment not by its title', ['rust'], comment('I prefer go', 'Rust or go?')),
  missed('16 a comment not by its title', ['rust'], comment('', 'rust')),
  missed('16 a comment not by its title and text together', ['new york'], comment('york', 'new')),
  missed('16 no phrase across', ['new york'], post('new', 'york')),
  missed('16 no phrase across', ['new york'], post('new ', ' york')),
  missed('16 no phrase across', ['new york'], post('All new-', 'york')),
  missed('16 no phrase across', ['new york'], post('york', 'new')),
  missed('16 no characters across', ['手机'], post('手', '机')),
  missed('16 no symbols across', [':-)'], post(':-', ')')),
  missed('16 no symbols across', ['C++'], post('C+', '+')),
  missed('16 no emoji across', ['\u{1f980}\u{1f680}'], post('\u{1f980}', '\u{1f680}')),
  missed('16 no word across', ['rust'], post('ru', 'st')),
  missed('16 no punctuation across', ['node.js'], post('node', '.js')),
  missed('16 no entity across', ['AT&T'], post('AT&am', 'p;T')),
  missed('16 no accent across', ['caf\u00e9'], post('cafe', '\u0301')),
  missed('16 not by the community', ['programming'], post('x', 'y')),
];

const EXCLUDES: readonly ItemCase[] = [
  excluding(['rust'], [], 'rust', ['rust']),
  excluding(['rust'], ['game'], 'rust', ['rust']),
  excluding(['rust'], ['game'], 'rust, the language; gamers welcome', ['rust']),
  excluding(['rust', 'go'], ['game'], 'go on, rust', ['rust', 'go']),
  excluding(['rust', 'go'], ['game'], 'only go', ['go']),
  excluding(['rust'], ['video game', 'bike'], 'a game about rust, a video, bikes', ['rust']),
  excluding(['york'], ['new york'], 'york', ['york']),
  excluding(['york'], ['new york'], 'new, york', ['york']),
  excluding(['york'], ['new york'], 'York, new in town', ['york']),
  excluding(['york'], ['new york'], 'anew york', ['york']),
  excluding(['new york'], ['york city'], 'new york', ['new york']),
  excluding(['new york'], ['york city'], 'New York is a city', ['new york']),
  excluding(['rust'], ['trust'], 'rust', ['rust']),
  excluding(['rust'], ['rusty'], 'rust', ['rust']),
  excluding(['rust'], ['C++'], 'rust or C+++?', ['rust']),
  excluding(['rust'], ['手机'], 'rust 手 机', ['rust']),
  excluding(['rust'], [':)'], 'rust :(', ['rust']),
  excluding(['rust'], ['e-mail'], 'rust, email', ['rust']),
  excluding(['rust'], ['caf\u00e9'], 'rust cafe', ['rust']),
  excluding(['rust'], ['.NET'], 'rust, ASP.NET', ['rust']),
  excluding(['rust'], ['objective C'], 'rust, objective C++', ['rust']),
  excluding(['rust'], ["wendy's"], 'rust, wendy', ['rust']),

  excluding(['rust'], ['rust'], 'rust', undefined),
  excluding(['rust'], ['RUST'], 'rust', undefined),
  excluding(['rust'], ['game'], 'a game named rust', undefined),
  excluding(['rust'], ['game'], 'GAME: Rust', undefined),
  excluding(['rust', 'go'], ['game'], 'rust is a game, go is not', undefined),
  excluding(['rust'], ['bike', 'game', 'car'], 'rust on my car', undefined),
  excluding(['rust'], ['bike', 'game', 'car'], 'rust on my game, my car, my bike', undefined),
  excluding(['rust'], ['video game'], 'rust is a Video-Game', undefined),
  excluding(['rust'], ['"video game"'], 'rust is a video\ngame', undefined),
  excluding(['york'], ['new york'], 'new york', undefined),
  excluding(['york'], ['new york'], 'york and new york', undefined),
  excluding(['york'], ['new york'], 'new york and york', undefined),
  excluding(['york', 'city'], ['new york'], 'the city of New York', undefined),
  excluding(['new york'], ['york city'], 'New York City', undefined),
  excluding(['new york'], ['york'], 'new york', undefined),
  excluding(['rust'], ['rust lang'], 'rust lang', undefined),
  excluding(['rust'], ['C++'], 'rust or C++17?', undefined),
  excluding(['rust'], ['手机'], 'rust 我的手机', undefined),
  excluding(['机'], ['手机'], '手机', undefined),
  excluding(['rust'], [':)'], 'rust:))', undefined),
  excluding(['rust'], ['AT&T'], 'rust at AT&amp;T', undefined),
  excluding(['rust'], ['\u{1f44d}\u{1f3fd}'], 'rust\u{1f44d}', undefined),
  excluding(['rust'], ['caf\u00e9'], 'rust cafe\u0301', undefined),
  excluding(['rust'], ["wendy's"], 'rust at Wendy\u2019s', undefined),
  excluding(['rust'], ['wendy'], 'rust at Wendy\u2019s', undefined),
  excluding(['rust'], [], 'go', undefined),
  excluding(['rust'], ['game'], 'game', undefined),
  {
    rule: '17 an exclude in the title',
    monitor: { exclude: ['game'] },
    item: post('My game', 'in rust'),
    expected: undefined,
  },
  {
    rule: '17 an exclude in the text',
    monitor: { exclude: ['game'] },
    item: post('Rust', 'My game'),
    expected: undefined,
  },
  {
    rule: '17 an exclude not across title and text',
    monitor: { exclude: ['video game'] },
    item: post('Rust video', 'game over'),
    expected: ['rust'],
  },
  {
    rule: '17 an exclude in the title of a comment',
    monitor: { exclude: ['game'] },
    item: comment('rust', 'My game'),
    expected: ['rust'],
  },
  {
    rule: '17 an exclude in the name of the community',
    monitor: { exclude: ['programming'] },
    item: comment('rust'),
    expected: ['rust'],
  },
  {
    rule: '17 an exclude in a text that is gone',
    monitor: { exclude: ['removed', 'deleted'] },
    item: post('Rust', '[removed]'),
    expected: ['rust'],
  },
];

const MATCHED_TERMS: readonly ItemCase[] = [
  returned(['rust', 'go'], comment('go rust'), ['rust', 'go']),
  returned(['go', 'rust'], comment('go rust'), ['go', 'rust']),
  returned(['c', 'b', 'a'], comment('a b c'), ['c', 'b', 'a']),
  returned(['zig', 'rust', 'go', 'java'], comment('java rust'), ['rust', 'java']),
  returned(['Rust'], comment('rust RUST Rust'), ['Rust']),
  returned(['RUST'], post('rust', 'rust'), ['RUST']),
  returned(['rust', 'go'], post('go', 'rust'), ['rust', 'go']),
  returned(['rust', 'go'], post('go', 'go rust go'), ['rust', 'go']),
  returned(['new york', 'york', 'new'], comment('New York'), ['new york', 'york', 'new']),
  returned(['york', 'new', 'new york'], comment('New York'), ['york', 'new', 'new york']),
  returned(['new york times', 'york times', 'new york'], comment('new york times'), [
    'new york times',
    'york times',
    'new york',
  ]),
  returned(['new york times', 'york times', 'new york'], comment('york times, new york'), ['york times', 'new york']),
  returned(['no no'], comment('no no no no'), ['no no']),
  returned(['  Rust\t'], comment('rust'), ['  Rust\t']),
  returned(['"Rust"', 'go'], comment('rust go'), ['"Rust"', 'go']),
  returned(['_rust_'], comment('rust'), ['_rust_']),
  returned(['\uff32\uff35\uff33\uff34'], comment('rust'), ['\uff32\uff35\uff33\uff34']),
  returned(['cafe\u0301'], comment('caf\u00e9'), ['cafe\u0301']),
  returned(['AT&amp;T'], comment('at&t'), ['AT&amp;T']),
  returned(['Wendy\u2019s', 'wendy'], comment("wendy's"), ['Wendy\u2019s', 'wendy']),
  returned(['C++', 'C', 'C#'], comment('I know c++'), ['C++']),
  returned(['.NET', 'net'], comment('.net'), ['.NET', 'net']),
  returned(['$TSLA', 'TSLA'], comment('TSLA'), ['TSLA']),
  returned(['$TSLA', 'TSLA'], comment('$tsla'), ['$TSLA', 'TSLA']),
  returned(['e-mail', 'e mail'], comment('E-Mail'), ['e-mail', 'e mail']),
  returned(['e-mail', 'e mail'], comment('e mail'), ['e mail']),
  returned(['iPhone手机', '手机', 'iphone'], comment('新iPhone手机'), ['iPhone手机', '手机', 'iphone']),
  returned(['\u{1f44d}\u{1f3fd}', 'ok'], comment('ok\u{1f44d}'), ['\u{1f44d}\u{1f3fd}', 'ok']),
  returned(['Rust', 'rust', 'go'], comment('rust go'), ['Rust', 'go']),
  returned(['go', '"rust"', 'RUST', 'Rust'], comment('rust'), ['"rust"']),
  returned(
    Array.from({ length: 20 }, (_, k) => `Word${String(k)}`),
    comment(Array.from({ length: 20 }, (_, k) => `word${String(19 - k)}`).join(' ')),
    Array.from({ length: 20 }, (_, k) => `Word${String(k)}`),
  ),

  returned(['rust', 'go'], comment('golang rusty'), undefined),
  returned(['rust', 'go'], post('', 'python'), undefined),
  returned(['new york'], comment('york new'), undefined),
  returned(
    ['C', 'C#'].map((name) => `objective ${name}`),
    comment('objective C++'),
    undefined,
  ),
  returned(['$TSLA'], comment('TSLA'), undefined),
  returned(['Wendy\u2019s'], comment('wendy'), undefined),
  returned([], comment('rust'), undefined),
];

const FILTERS: readonly ItemCase[] = [
  ...within([], 'rust', true),
  ...within([], 'u_somebody', true),
  ...within([], '', true),
  ...within(['rust'], 'rust', true),
  ...within(['rust'], 'RUST', true),
  ...within(['RUST'], 'rust', true),
  ...within(['r/rust'], 'rust', true),
  ...within(['r/Rust'], 'rUsT', true),
  ...within(['/r/rust'], 'Rust', true),
  ...within(['R/RUST'], 'rust', true),
  ...within(['rust'], 'r/rust', true),
  ...within(['python', 'golang', 'rust'], 'Rust', true),
  ...within(['r/python', '/r/golang', 'R/rust'], 'golang', true),
  ...within(['learn_rust'], 'Learn_Rust', true),
  ...within(['u_somebody'], 'u_SomeBody', true),
  ...within(['rust', 'rust', 'r/rust'], 'rust', true),

  ...within(['rust'], 'rustjerk', false),
  ...within(['rust'], 'learnrust', false),
  ...within(['rust'], 'learn_rust', false),
  ...within(['rustjerk'], 'rust', false),
  ...within(['learn_rust'], 'learnrust', false),
  ...within(['python', 'golang'], 'rust', false),
  ...within(['r/python'], 'rust', false),
  ...within(['u_rust'], 'rust', false),
  ...within(['rust'], 'u_rust', false),
  ...within(['rust'], '', false),
  ...within(['rust'], 'r', false),

  filtered({ nsfw: true }, { nsfw: true }, true),
  filtered({ nsfw: true }, { nsfw: false }, true),
  filtered({ nsfw: false }, { nsfw: false }, true),
  filtered({ nsfw: true }, { kind: 'post', nsfw: true }, true),
  filtered({ nsfw: true }, { kind: 'post', title: 'rust', text: '', nsfw: true }, true),
  filtered({ nsfw: true, subreddits: ['rust'] }, { subreddit: 'Rust', nsfw: true }, true),
  filtered({ nsfw: false }, { nsfw: true }, false),
  filtered({ nsfw: false }, { kind: 'post', nsfw: true }, false),
  filtered({ nsfw: false }, { kind: 'post', title: 'rust', nsfw: true }, false),
  filtered({ nsfw: false, subreddits: ['rust'] }, { subreddit: 'rust', nsfw: true }, false),
  filtered({ nsfw: true, subreddits: ['go'] }, { subreddit: 'rust', nsfw: true }, false),
  filtered({ nsfw: true, exclude: ['like'] }, { nsfw: true }, false),

  filtered({ posts: true, comments: false }, { kind: 'post' }, true),
  filtered({ posts: true, comments: false }, { kind: 'post', title: 'Rust', text: '' }, true),
  filtered({ posts: false, comments: true }, { kind: 'comment' }, true),
  filtered({ posts: true, comments: true }, { kind: 'post' }, true),
  filtered({ posts: true, comments: true }, { kind: 'comment' }, true),
  filtered({ posts: true, comments: false, nsfw: true }, { kind: 'post', nsfw: true }, true),
  filtered({ posts: true, comments: false }, { kind: 'comment' }, false),
  filtered({ posts: false, comments: true }, { kind: 'post' }, false),
  filtered({ posts: false, comments: true }, { kind: 'post', title: 'rust' }, false),
  filtered({ posts: false, comments: false }, { kind: 'post' }, false),
  filtered({ posts: false, comments: false }, { kind: 'comment' }, false),
  filtered({ posts: false, comments: true, nsfw: true }, { kind: 'post', nsfw: true }, false),
];

const GONE: readonly ItemCase[] = [
  ...['[deleted]', '[removed]', ' [deleted] ', '\n[removed]\n', '[deleted]\r\n', '\t[removed]'].flatMap(
    (text): ItemCase[] => [
      missed('20 a comment that is gone', ['deleted', 'removed'], comment(text)),
      missed('20 the text of a post that is gone', ['deleted', 'removed'], post('', text)),
      missed('20 brackets, too', ['[deleted]', '[removed]'], comment(text)),
      found('20 the title of a post whose text is gone', ['rust'], post('Rust', text)),
      {
        rule: '20 only what the title says',
        monitor: { keywords: ['rust', 'removed', 'deleted'] },
        item: post('Rust', text),
        expected: ['rust'],
      },
      {
        rule: '20 excludes do not see it',
        monitor: { exclude: ['deleted', 'removed'] },
        item: post('Rust', text),
        expected: ['rust'],
      },
    ],
  ),
  ...[
    'My post was [removed] by the bot',
    '[removed] why?',
    'deleted, removed',
    '[removed] [removed]',
    '\\*[removed]\\*',
    '[[removed]]',
    '"[removed]"',
    '[removed].',
    '(removed)',
  ].flatMap((text): ItemCase[] => [
    found('20 somebody who speaks of it', ['removed'], comment(text)),
    found('20 somebody who speaks of it', ['removed'], post('What happened?', text)),
  ]),
  found('20 somebody who speaks of it', ['deleted'], comment('Why was it [deleted]?')),
  found('20 somebody who speaks of it', ['[deleted]'], comment('It says [deleted] now')),
];

export const ITEM_CASES: readonly ItemCase[] = [...PLACES, ...EXCLUDES, ...MATCHED_TERMS, ...FILTERS, ...GONE];
