import type { TermCase } from './term-case.ts';

export const KEYWORDS_CASES: readonly TermCase[] = [
  // Rule 9: the words of a phrase may be separated by whitespace or one hyphen; quotes around a keyword are dropped.
  {
    rule: '9 a phrase: the words in order, whitespace or one hyphen between',
    keyword: 'new york',
    matches: ['new york', 'New  York', 'new-york', 'new\nyork', 'NEW\u00a0YORK', 'new\u2011york'],
    misses: ['new, york', 'new. York', 'york new', 'newyork', 'new--york', 'new - york', 'new/york'],
  },
  {
    rule: '9 three words',
    keyword: 'state  of the\tart',
    matches: ['state of the art', 'state-of-the-art', 'State of-the art', 'a state  of\nthe art.'],
    misses: ['state of art', 'state of the', 'of the art', 'state of the arts', 'state of, the art'],
  },
  {
    rule: '9 words that repeat',
    keyword: 'no no yes',
    matches: ['no no yes', 'no no no yes', 'no-no-no-yes', 'no no. no no yes', 'no no no no yes!'],
    misses: ['no yes', 'no no', 'no no no', 'no, no yes', 'no no yesyes'],
  },
  {
    rule: '9 quotes around a keyword are dropped',
    keyword: '"new york"',
    matches: ['new york', '"new york"', 'in New-York', '\u201cnew york\u201d', 'new york "city"'],
    misses: ['new "york"', 'york', 'new', '"new" york', 'new yorker'],
  },
  {
    rule: '9 other brackets are not quotes',
    keyword: '\u300erust\u300f',
    matches: ['\u300erust\u300f', '学\u300eRust\u300f', '\u300erust\u300fx', '(\u300eRUST\u300f)'],
    misses: ['rust', '\u300crust\u300d', '\u300erust', 'rust\u300f', 'x\u300erust\u300f'],
  },
  {
    rule: '9 a keyword of words in underscores',
    keyword: '_red pandas_',
    matches: ['red pandas', '_red pandas_', 'Red-Pandas', '(red pandas)', '__red pandas__'],
    misses: ['red panda', 'red_pandas', 'a_red pandas', 'red pandas_x', 'redpandas', 'red,pandas'],
  },

  // Rule 10: punctuation inside a keyword must be in the text.
  {
    rule: '10 inner punctuation: a hyphen',
    keyword: 'e-mail',
    matches: ['e-mail', 'E\u2011mail', 'e\u2010mail', 'e-mail-address', 'an e-mail.', "e-mail's"],
    misses: ['email', 'e mail', 'e\u2013mail', 'e--mail', 'e-mails', 'the-mail', 'e- mail'],
  },
  {
    rule: '10 inner punctuation: a dot',
    keyword: 'node.js',
    matches: ['Node.js', 'node.js,', 'node.js.', 'use node.js-18', '(NODE.JS)', 'x.node.js'],
    misses: ['nodejs', 'node js', 'node-js', 'node.jsx', 'anode.js', 'node..js', 'node. js'],
  },
  {
    rule: '10 inner punctuation: a domain',
    keyword: 'example.com',
    matches: ['https://www.example.com/x', 'example.com', 'me@example.com', 'EXAMPLE.COM.'],
    misses: ['notexample.com', 'example.community', 'example.co', 'example com', 'example,com'],
  },
  {
    rule: '10 words before and after',
    keyword: 'use AT&T now',
    matches: ['use AT&T now', 'use  at&t\nnow', 'Use-AT&amp;T-now', 'I use AT&T now.', '"use at&t now"'],
    misses: ['use AT & T now', 'use AT&T, now', 'AT&T now', 'use AT&T', 'use at&tnow', 'use ATT now'],
  },
  {
    rule: '10 punctuation with a space beside it',
    keyword: 'rock & roll',
    matches: ['rock & roll', 'Rock &amp; Roll', 'rock  &\nroll', 'rock &#38; roll!', "rock & roll's"],
    misses: ['rock and roll', 'rock&roll', 'rock &roll', 'rock& roll', 'rock && roll', 'rock & rolls'],
  },
  {
    rule: '10 punctuation followed by a space',
    keyword: 'half-life: alyx',
    matches: ['Half-Life: Alyx', 'half\u2011life:\nalyx', '(Half-Life: Alyx)', "half-life:  alyx's"],
    misses: ['half-life alyx', 'half life: alyx', 'half-life:alyx', 'half-life : alyx'],
  },
  {
    rule: '10 several symbols and words',
    keyword: 'why?! (serious) 50/50',
    matches: ['why?! (serious) 50/50', 'Why?!  (Serious)\n50/50', 'why?!-(serious)-50/50'],
    misses: ['why? (serious) 50/50', 'why?! serious 50/50', 'why?!(serious) 50/50'],
  },

  // Rule 11: symbols at the beginning or the end of a keyword must be in the text, and must not repeat.
  {
    rule: '11 ends with a symbol: C++',
    keyword: 'C++',
    matches: ['C++', 'c++,', 'C++17', 'C++/C', 'objective-c++', '(C++)', 'C++ ++', 'C+++ C++'],
    misses: ['C+++', 'C+', 'C', 'C ++', 'abc++', 'c+ +', 'C++++'],
  },
  {
    rule: '11 begins with a symbol: .NET',
    keyword: '.NET',
    matches: [' .NET', '.net', '(.NET)', '.NET-core', '/.net', '用.NET', '.NET 8'],
    misses: ['ASP.NET', 'x.net', '..NET', 'NET', '. NET', '.NETs', "rust's.NET", '...net'],
  },
  {
    rule: '11 begins with a symbol: $TSLA',
    keyword: '$TSLA',
    matches: ['$TSLA', 'buy $tsla!', '($TSLA)', '-$TSLA', '$TSLA$'],
    misses: ['TSLA', '$$TSLA', 'US$TSLA', '$ TSLA', '$TSLAQ', '#TSLA'],
  },
  {
    rule: '11 the word alone',
    keyword: 'TSLA',
    matches: ['$TSLA', 'tsla', '#TSLA', '$$TSLA', 'TSLA+'],
    misses: ['$TSLAQ', 'tsl a', 'utsla', 'tsla_x', 'TSLA2'],
  },
  {
    rule: '11 symbols at both ends, followed by a phrase',
    keyword: '#1 C++ fan!',
    matches: ['#1 C++ fan!', 'the #1 c++-fan!', '#1 C++ fan!?', '(#1 C++ fan!)', '#1\nC++  fan!x'],
    misses: ['##1 C++ fan!', '#1 C++ fan!!', 'a#1 C++ fan!', '#1 C+++ fan!', '#1 C++ fan', '1 C++ fan!'],
  },
  {
    rule: '11 ends with a symbol',
    keyword: 'u.s.',
    matches: ['u.s.', 'the U.S.', 'U.S.A', 'u.s.-based', 'U.S. Army'],
    misses: ['us', 'u.s', 'u. s.', 'U.S..', 'b.u.s', 'u.s...'],
  },
  {
    rule: '11 ends with a hyphen',
    keyword: 'pre-',
    matches: ['pre-', 'pre-war', 'pre\u2010', 'pre- and post-war', 'pre\\-alpha'],
    misses: ['pre', 'prewar', 'pre -', 'pre\u2013war', 'pre-\u2011war', 'spre-'],
  },
  {
    rule: '11 another symbol may precede',
    keyword: '.NET',
    matches: ['#.NET', '$.net', '-.NET', ',.net', '\u{1f980}.NET', 'の.NET', '_.NET_', '**.NET**'],
    misses: ['x.NET', '2.NET', '\u00e9.NET', 'e\u0301.NET', '..NET', '...NET', '\u0416.net', '\\..NET'],
  },
  {
    rule: '11 a phrase after a symbol',
    keyword: 'C++ developer',
    matches: ['C++ developer', 'c++-developer', 'Senior C++  Developer', 'C++\ndeveloper\u2019s'],
    misses: ['C++ developers', 'C++developer', 'C+++ developer', 'C++, developer', 'MSVC++ developer'],
  },

  // Rule 12: a single letter at the end of a keyword must not be followed by + or #.
  {
    rule: '12 a single letter before + or #',
    keyword: 'objective C',
    matches: ['objective C', 'Objective-C', 'objective c.', 'objective C, C++', 'objective C +'],
    misses: ['objective C++', 'objective C#', 'objective-c+', 'objective C+x', 'objective cc'],
  },
  {
    rule: '12 no such check after longer words and digits',
    keyword: 'vitamin b12',
    matches: ['vitamin b12', 'vitamin b12+', 'vitamin-B12#', 'Vitamin B12++', 'vitamin b12!'],
    misses: ['vitamin b', 'vitamin b123', 'vitamin b1+2', 'vitamin b 12', 'vitamins b12'],
  },
  {
    rule: '12 a letter of two code units',
    keyword: 'x \u{10414}',
    matches: ['x \u{10414}', 'X-\u{1043c}', 'x \u{10414} +', 'x \u{10414}*'],
    misses: ['x \u{10414}+', 'x \u{1043c}#', 'x \u{10415}', 'x \u{10414}\u{10414}'],
  },
  {
    rule: '12 a single letter after an ideograph',
    keyword: '维生素C',
    matches: ['维生素C', '吃维生素c片', '维生素C.', '维生素C +', '维生素\uff23'],
    misses: ['维生素C+', '维生素C#', '维生素C\uff0b', '维生素CC', '维生素 C', '维生素D'],
  },
  {
    rule: '12 not the first of several words',
    keyword: 'C programming',
    matches: ['C programming', 'C-programming', 'in c  programming', '(C programming)', 'C programming+'],
    misses: ['C++ programming', 'C# programming', 'C+ programming', 'c programmings', 'Cprogramming'],
  },

  // Rule 13: keywords of symbols and emoji.
  {
    rule: '13 emoji separate words',
    keyword: 'rust',
    matches: ['rust🦀', '🦀rust🦀', '\u2192rust', 'rust❤\ufe0f', '👍\u{1f3fd}rust'],
    misses: ['rusty🦀', 'ru🦀st', '🦀', 'rust\u20e3', '🦀trust'],
  },
  {
    rule: '13 a keyword of emoji alone matches anywhere',
    keyword: '👍❤\ufe0f',
    matches: ['👍❤', 'a👍❤\ufe0fb', '👍\u{1f3fd}❤', '👍\ufe0f\u{1f3ff}❤\ufe0f', '👍👍❤❤'],
    misses: ['👍', '❤👍', '👍 ❤', '👍x❤', '👎❤'],
  },
  {
    rule: '13 a skin tone in the keyword does not count either',
    keyword: '👍\u{1f3fd}',
    matches: ['👍', '👍\u{1f3fb}', 'ok👍', '👍👍', '👍\ufe0f'],
    misses: ['\u{1f3fd}', '👎\u{1f3fd}', 'thumbs', '👊', '+1'],
  },
  {
    rule: '13 a skin tone alone is a symbol',
    keyword: 'rust rust',
    matches: ['rust rust', 'rust-rust', '\u{1f3fd}rust rust', 'rust rust\u{1f3fd}'],
    misses: ['rust\u{1f3fd}rust', 'rust🦀rust', 'rust \u{1f3fd} rust', 'rustrust'],
  },
  {
    rule: '13 a keyword of symbols alone matches anywhere',
    keyword: ':-)',
    matches: [':-)', 'a:-)b', ':-))', '::-)', 'ok:-).', '\\:-\\)', ':\u2011)'],
    misses: [':)', ': -)', ':- )', ';-)', ':-('],
  },
  {
    rule: '13 a space between symbols is a space',
    keyword: '+ +',
    matches: ['+ +', 'a+ +b', '++ ++', '+\n+', '+ + +'],
    misses: ['++', '+-+', '+', '+ -+', '+x+'],
  },
  {
    rule: '13 an emoji in a longer keyword matches itself',
    keyword: 'crab 🦀',
    matches: ['crab 🦀', 'Crab-🦀', 'crab 🦀🦀', 'a crab  🦀s', 'crab\n🦀\ufe0f'],
    misses: ['crab🦀', 'crab', '🦀', 'scrab 🦀', 'crab 🦐', 'crab. 🦀'],
  },
  {
    rule: '13 joined emoji are one, whatever their skin tones',
    keyword: '\u{1f469}\u200d\u{1f52c}',
    matches: [
      ...['\u{1f469}\u200d\u{1f52c}', '\u{1f469}\u{1f3fd}\u200d\u{1f52c}', 'x\u{1f469}\u200d\u{1f52c}x'],
      ...['\u{1f469}\u200d\u{1f52c}\u{1f469}', '\u{1f469}&zwj;\u{1f52c}', '\u{1f469}\ufe0f\u200d\u200d\u{1f52c}'],
    ],
    misses: [
      ...['\u{1f469}', '\u{1f52c}', '\u{1f468}\u200d\u{1f52c}', '\u{1f469} \u{1f52c}', '\u{1f469}\u{1f52c}'],
      ...['\u{1f469}\u200d\u{1f52c}\u200d\u{1f469}', '\u{1f468}\u200d\u{1f469}\u200d\u{1f52c}'],
    ],
  },
  {
    rule: '13 an emoji is not found in joined ones',
    keyword: '\u{1f469}',
    matches: [
      '\u{1f469}',
      '\u{1f469}\u{1f3fd}',
      'x\u{1f469}\u200dx',
      '\u{1f469}\u{1f467}',
      '\u{1f469}\u200d \u{1f467}',
      '\u{1f469}\u{1f469}\u200d\u{1f467}',
    ],
    misses: [
      '\u{1f469}\u200d\u{1f467}',
      '\u{1f468}\u200d\u{1f469}',
      '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
      '\u{1f469}\u{1f3fd}\u200d\u2764\ufe0f',
      '\u2764\u200d\u{1f469}',
    ],
  },
  {
    rule: '13 symbols beside joined emoji and flags',
    keyword: '$TSLA!',
    matches: [
      '\u{1f469}\u200d\u{1f467}$TSLA!',
      '\u{1f1fa}\u{1f1f8}$TSLA!',
      '$TSLA!\u{1f1fa}\u{1f1f8}',
      '$TSLA!\u{1f469}\u200d\u{1f467}',
      '$tsla!',
    ],
    misses: ['$TSLA\u{1f1fa}\u{1f1f8}!', '$\u{1f469}\u200d\u{1f467}TSLA!', '$TSLA!!', 'x$TSLA!', '$TSLA'],
  },
  {
    rule: '13 a flag is one symbol; indicators pair from the left',
    keyword: '\u{1f1f8}\u{1f1ec}',
    matches: [
      ...['\u{1f1f8}\u{1f1ec}', 'SG\u{1f1f8}\u{1f1ec}SG', '\u{1f1e9}\u{1f1ea}\u{1f1f8}\u{1f1ec}'],
      ...['\u{1f1fa} \u{1f1f8}\u{1f1ec}', '\u{1f1f8}\u{1f1ec}\u{1f1e7}'],
    ],
    misses: [
      ...['\u{1f1f8}', '\u{1f1ec}\u{1f1f8}', '\u{1f1f8} \u{1f1ec}', 'SG', '\u{1f1fa}\u{1f1f8}\u{1f1ec}\u{1f1e7}'],
      ...['\u{1f1fa}\u{1f1f8}\u{1f1ec}', '\u{1f1f8}\u{1f1e6}'],
    ],
  },
  {
    rule: '13 an emoji between words of a keyword',
    keyword: 'I \u2764\ufe0f NY',
    matches: ['I \u2764\ufe0f NY', 'i \u2764 ny', 'I  \u2764\ufe0e\nNY', 'I-\u2764-NY'],
    misses: ['I\u2764NY', 'I NY', 'I \u2764\u2764 NY', 'I \u2665 NY', 'I \u2764 NYC', 'I \u2764, NY'],
  },
  {
    rule: '13 a face of letters is a word',
    keyword: '\u0ca0_\u0ca0',
    matches: ['\u0ca0_\u0ca0', '\u0ca0\\_\u0ca0', '(\u0ca0_\u0ca0)', 'really? \u0ca0_\u0ca0'],
    misses: ['\u0ca0\u0ca0', '\u0ca0__\u0ca0', '\u0ca0 _ \u0ca0', 'x\u0ca0_\u0ca0', '\u0ca0-\u0ca0'],
  },
];
