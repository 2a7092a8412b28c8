import type { TermCase } from './term-case.ts';

export const WORDS_CASES: readonly TermCase[] = [
  // Rule 5: which characters form a word.
  {
    rule: '5 underscores inside a word belong to it',
    keyword: 'rust',
    matches: ['_rust_', '__rust__', '*_rust_*', '_rust_ and _go_', 'rust_'],
    misses: ['rust_lang', 'my_rust', 'a__rust', 'rust__b', '_rust_x_', 'x_rust_'],
  },
  {
    rule: '5 a keyword with an inner underscore',
    keyword: '_rust_lang_',
    matches: ['rust_lang', '_rust_lang_', 'RUST_LANG', '(rust_lang)', '__rust_lang'],
    misses: ['rust__lang', 'rust-lang', 'rust lang', 'rust_langs', 'a_rust_lang', 'rust'],
  },
  {
    rule: '5 underscores around a keyword are dropped',
    keyword: '__init__',
    matches: ['__init__', 'init', '_init_', 'def __init__(self)', 'INIT', '\\_\\_init\\_\\_'],
    misses: ['init_x', '__init__x', 'x__init__', 'reinit', 'inits', '__init_subclass__', 'in_it'],
  },
  {
    rule: '5 fractions, superscripts and Roman numerals are part of a word',
    keyword: 'rust',
    matches: ['rust \u00bd', 'rust-\u00b2', '\u2167 rust', 'rust.\u2460', '(rust)\u00b9'],
    misses: ['rust\u00bd', 'rust\u00b2', '\u2167rust', 'rust\u2460', 'rust\u00b9', 'rust\u2082'],
  },
  {
    rule: '5 combining marks are part of a word',
    keyword: 'rust',
    matches: ['rust \u0301', 'rust-\u0301x', 'rust, r\u0301ust', 'x\u0301 rust', 'rust.\u0332'],
    misses: ['rust\u0301', 'ru\u0332st', 'r\u0336u\u0336s\u0336t\u0336', 'rust\u20dd', '\u0301rust'],
  },

  // Rule 6: a keyword matches whole words only.
  {
    rule: '6 whole words in any case',
    keyword: 'rust',
    matches: ['rust', 'Rust', 'RUST', 'I like rUsT', 'rust is fine', 'a rust\tb'],
    misses: ['trust', 'rusty', 'crust', 'rusts', 'rust2', '2rust', '', 'rus t'],
  },

  // Rule 7: apostrophes inside a word belong to it, a possessive does not.
  {
    rule: '7 a possessive is not part of the word',
    keyword: 'rust',
    matches: ["rust's", 'Rust\u2019s', "RUST'S borrow checker", "'rust'", "rust'", "the rust's, and"],
    misses: ["rust'n", "rust'st", "o'rust", "rust's'x", "rust's_x", "rust'll"],
  },
  {
    rule: '7 an apostrophe inside joins',
    keyword: "don't",
    matches: ["don't", 'DON\u2019T', "'don't'", "don't.", "don't's"],
    misses: ['don', "don 't", 'dont', "don'ts", "xdon't"],
  },
  {
    rule: '7 the first half of a joined word is not a word',
    keyword: 'don',
    matches: ['don', "Don's", "don'", "'don'", 'don, t'],
    misses: ["don't", 'don\u2019t', "Don'ts", "don'x", "o'don"],
  },
  {
    rule: '7 a keyword with a possessive requires it',
    keyword: "Wendy's",
    matches: ["Wendy's", 'WENDY\u2019S', "at wendy's.", "'Wendy's'", "wendy's-burger"],
    misses: ['wendy', 'wendys', "wendy's'x", "wendy'sx", "xwendy's", 'wendy s'],
  },
  {
    rule: '7 the s of a possessive is not a word',
    keyword: 's class',
    matches: ['s class', 'an S-Class', "'s class", 'S class', "' s class"],
    misses: ["wendy's class", 'Wendy\u2019s class', 'class s', "it's-class", 'ss class'],
  },
  {
    rule: '7 several apostrophes inside a word',
    keyword: "rock'n'roll",
    matches: ["rock'n'roll", 'Rock\u2019n\u2019Roll', "rock'n\u2019roll", "rock'n'roll's"],
    misses: ['rock n roll', "rock 'n' roll", "rock'n roll", 'rocknroll', "rock'n'rolls", "rock'n"],
  },
  {
    rule: '7 an apostrophe at the beginning or end is a quote',
    keyword: "'tis",
    matches: ["'tis", 'tis', '\u2019Tis', "'tis'", '\u2018tis', 'so tis'],
    misses: ['this', "it'is", "x'tis", 'tisk', "tis'n", 't is'],
  },
  {
    rule: "7 only 's, and only at the end, is a possessive",
    keyword: 'it',
    matches: ["it's", 'IT\u2019S', "it's-a-me", "it's.", 'it', "'it's'", "it'\u017f", "it's, it's"],
    misses: ["it'll", "it'd", "it'ss", "it's's", "it's2", "it's_x", 'its', "it'\u017ft"],
  },
  {
    rule: '7 after an elided word another one begins',
    keyword: 'IA',
    matches: [
      ...[
        "l'IA",
        'L\u2019IA g\u00e9n\u00e9rative',
        "d'IA",
        "qu'IA",
        "j'IA n'IA",
        "s'ia",
        "m'ia",
        "t'ia",
        "c'ia",
        "(l'IA)",
      ],
      ...[
        "dell'IA",
        'all\u2019ia',
        "nell'ia",
        "sull'ia",
        "un'ia",
        "l'IA's",
        'l`IA',
        "l'ia-based",
        "_l'ia_",
        "\u624bl'ia",
      ],
    ],
    misses: ["o'ia", "y'ia", "l'ias", "al'ia", "x'l'ia", "j'l'ia", "l'ia'x", "l'ia_x", "l'\u00efa", "dall'xia", "l'"],
  },
  {
    rule: '7 a keyword with an elided word requires it',
    keyword: "L'Or\u00e9al",
    matches: [
      "L'Or\u00e9al",
      'l\u2019or\u00e9al',
      "L'Or\u00e9al's",
      "(l'or\u00e9al)",
      "chez-L'OR\u00c9AL",
      "L'Or\u00e9al Paris",
    ],
    misses: [
      'Or\u00e9al',
      "d'Or\u00e9al",
      'L Or\u00e9al',
      "L' Or\u00e9al",
      "l'or\u00e9als",
      "xl'or\u00e9al",
      "d'l'or\u00e9al",
    ],
  },
  {
    rule: '7 an elided word in a phrase',
    keyword: "pomme d'Apple",
    matches: ["pomme d'Apple", 'Pomme  D\u2019apple', "pomme-d'apple", "la pomme d'Apple's", "l'pomme d'apple"],
    misses: ['pomme Apple', 'pomme d Apple', "pomme d'apples", "pomme, d'Apple", "pomme l'Apple", "pomme d' Apple"],
  },
  {
    rule: '7 an elided word is no word by itself',
    keyword: 'all in',
    matches: ['all in', 'All-in', "all in's", "'all in'", 'all\nin'],
    misses: ["all'in", "all'in in", "all in'x", 'all, in', 'tall in'],
  },
  {
    rule: '7 other words with an apostrophe stay whole',
    keyword: 'brien',
    matches: ['Brien', "Brien's", "d'Brien", "'brien'", '\u2018Brien'],
    misses: ["O'Brien", 'O\u2019Brien', "don'brien", "y'brien", "we'brien", "il'brien"],
  },

  // Rule 8: all other characters separate words.
  {
    rule: '8 punctuation separates words',
    keyword: 'rust',
    matches: ['rust-based', '(rust)', '#rust', '@rust', '$rust', 'r/rust', 'rust.', 'rust,go', '"rust"'],
    misses: ['#rusty', '@trust', 'r/rustaceans', 'rust_based', 'ru.st', '#rust_lang'],
  },
  {
    rule: '8 addresses',
    keyword: 'github',
    matches: ['https://github.com/rust-lang/rust', 'github.com', 'www.github.com/x', 'me@github'],
    misses: ['githubusercontent.com', 'https://mygithub.com', 'git-hub.com', 'github_pages'],
  },
  {
    rule: '8 markdown around words',
    keyword: 'kubernetes',
    matches: ['**kubernetes**', '*Kubernetes*', '_kubernetes_', '__kubernetes__', '***kubernetes***'],
    misses: ['**kubernete**s', '**kuber**netes', '_kubernetes_x_', '~~kuber~~netes', '`kubernetesd`'],
  },
];
