/**
 * Rule 2: different encodings of a letter are equal. Of the compatibility forms only full width, half-width kana,
 * ligatures and mathematical letters are folded.
 */
import type { TermCase } from './term-case.ts';
import { wide, decimal, separates, differ } from './term-templates.ts';

/**
 * The text in the mathematical alphabet whose A has this code point. Some alphabets lack some capitals, which Unicode
 * has elsewhere.
 */
function mathematical(alphabet: number, text: string): string {
  return text
    .replace(/[a-z]/g, (letter) => String.fromCodePoint(alphabet + 26 + letter.charCodeAt(0) - 97))
    .replace(/[A-Z]/g, (letter) => String.fromCodePoint(alphabet + letter.charCodeAt(0) - 65));
}

/** A row for a word with accents, in both encodings. */
function accented(word: string): TermCase {
  const decomposed = word.normalize('NFD');
  const bare = decomposed.replace(/\p{M}/gu, '');
  return {
    rule: '2 composed and decomposed letters are one, accents count',
    keyword: word,
    matches: [
      word,
      decomposed,
      word.toUpperCase(),
      decomposed.toUpperCase(),
      `(${decomposed})`,
      `the ${decomposed}, now`,
      `${decomposed}'s`,
    ],
    misses: [
      bare,
      `${bare}\u0331`,
      `x${decomposed}`,
      `${decomposed}s`,
      `${decomposed}\u0323`,
      decomposed.replace(/\p{M}/u, ' $&'),
      decomposed.replace(/\p{M}/u, '\u030b'),
    ],
  };
}

/** A row for a word in katakana, and the same word in half-width kana with separate voicing marks. */
function kana(full: string, half: string): TermCase {
  const hiragana = full.replace(/[\u30a1-\u30f4]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0x60));
  return {
    rule: '2 half-width kana are full width, 14 Japanese matches anywhere',
    keyword: full,
    matches: [
      full,
      half,
      full.normalize('NFD'),
      `今日${half}だ`,
      `x${half}x`,
      `\uff62${half}\uff63`,
      decimal(half),
      `${full}2`,
    ],
    misses: [
      hiragana,
      full.slice(1),
      full.slice(0, -1),
      half.slice(0, -1),
      half.slice(1),
      Array.from(full).join(' '),
      Array.from(full).join('-'),
    ],
  };
}

function ligature(word: string, written: string, other: string): TermCase {
  return {
    rule: `2 the ligature in ${written}`,
    keyword: word,
    matches: [word, written, `(${written})`, `${written}'s`, `the ${written}, now`, `go-${written}`, `_${written}_`],
    misses: [other, `x${written}`, `${written}y`, `${written}_x`, `${written}2`, `a_${written}`, `${written}\u0301`],
  };
}

export const COMPATIBLE_FORMS_CASES: readonly TermCase[] = [
  {
    rule: '2 composed and decomposed letters are one',
    keyword: 'caf\u00e9',
    matches: ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'CAFE\u0301', 'cafe\u200d\u0301', 'ca\u2060fe\u0301'],
    misses: ['cafe', 'caf\u00e8', 'cafe\u0300', 'cafe \u0301', 'caf\u00e9s'],
  },
  {
    rule: '2 letters that compose only when small',
    keyword: '\u1e96at',
    matches: ['\u1e96at', 'h\u0331at', 'H\u0331AT', 'H\u0331at', '(\u1e96AT)'],
    misses: ['hat', 'HAT', 'h\u0332at', '\u1e25at', '\u1e96 at'],
  },
  {
    rule: '2 width, ligatures, mathematical letters',
    keyword: 'office',
    matches: [
      '\uff4f\uff46\uff46\uff49\uff43\uff45',
      '\uff2f\uff26\uff26\uff29\uff23\uff25',
      'o\ufb03ce',
      'o\ufb00ice',
      'of\ufb01ce',
      '\u{1d5fc}\u{1d5f3}\u{1d5f3}\u{1d5f6}\u{1d5f0}\u{1d5f2}',
      '\u{1d4aa}\u2131\u2131\u2110\u{1d49e}\u2130',
    ],
    misses: [
      'o\ufb04ce',
      'o\ufb01ce',
      '\u24de\u24d5\u24d5\u24d8\u24d2\u24d4',
      'offic\u2091',
      '\u1d3fffice',
      'o\ufb03ces',
    ],
  },
  {
    rule: '2 half-width kana',
    keyword: 'ガッツ',
    matches: ['ガッツ', '\uff76\uff9e\uff6f\uff82', 'カ\u3099ッツ', '\uff76\uff9eッ\uff82だ', '今日もガッツ'],
    misses: ['\uff76\uff6f\uff82', 'カッツ', 'ガツツ', 'がっつ', 'ガ ッツ'],
  },
  {
    rule: '2 no further compatibility',
    keyword: 'x2',
    matches: ['x2', 'X2', '\uff58\uff12', '\u{1d465}\u{1d7d0}', '(x2)'],
    misses: ['x\u00b2', 'x\u2082', 'x\u2461', '\u2093\u00b2', 'x 2', 'x\u00bd'],
  },
  {
    rule: '2 trademark signs separate',
    keyword: 'acme',
    matches: ['Acme\u2122', 'Acme\u00ae', '\u00a9Acme', 'ACME\u2122 tools', 'by acme\u00a9 2020'],
    misses: ['Acmetm', 'acme\u1d57\u1d50', 'acmes\u2122', 'tmacme', 'a\u2122cme'],
  },
  ...[
    'na\u00efve',
    'se\u00f1or',
    '\u00fcber',
    '\u00c5ngstr\u00f6m',
    'Zo\u00eb',
    'fa\u00e7ade',
    'ti\u1ebfng vi\u1ec7t',
    'ph\u1edf',
    '\u017ei\u017eek',
    'cr\u00e8me br\u00fbl\u00e9e',
    'r\u00e9sum\u00e9',
    'S\u00e3o Paulo',
    'Gda\u0144sk',
    '\u0110\u00e0 N\u1eb5ng',
    '\u0142\u00f3d\u017a',
    '\u03b5\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac',
    '\u0451\u043b\u043a\u0430',
    '\u041a\u0438\u0457\u0432',
    'Pok\u00e9mon',
    '\u0623\u0647\u0644\u0627',
  ].map(accented),
  {
    rule: '2 marks in any canonical order',
    keyword: '\u1ec7x',
    matches: ['\u1ec7x', 'e\u0323\u0302x', 'e\u0302\u0323x', '\u1eb9\u0302x', '\u00ea\u0323x', 'E\u0302\u0323X'],
    misses: ['ex', '\u00eax', '\u1eb9x', 'e\u0302x', 'e\u0323x', '\u1ec7\u0302x'],
  },
  {
    rule: '2 letters that NFC maps to other letters: \u00c5ngstr\u00f6m and ohm',
    keyword: '\u00e5\u03c9x',
    matches: ['\u00e5\u03c9x', '\u212b\u2126x', '\u00c5\u03a9X', 'A\u030a\u2126x', 'a\u030a\u03c9x'],
    misses: ['a\u03c9x', 'A\u2126x', '\u00e5wx', '\u00e5ox', '\u00e4\u03c9x'],
  },
  {
    rule: '2 ideographs that NFC maps to other ideographs',
    keyword: '\u8c48\u6709',
    matches: ['\u8c48\u6709', '\uf900\u6709', '此\uf900\u6709此', '&#xF900;\u6709', 'a\uf900\u6709b'],
    misses: ['\uf901\u6709', '\u6709\uf900', '\uf900 \u6709', '\uf900', '\u5c82\u6709'],
  },
  {
    rule: '2 letters that NFC decomposes',
    keyword: '\u0958\u0932\u092e',
    matches: [
      '\u0958\u0932\u092e',
      '\u0915\u093c\u0932\u092e',
      '(\u0958\u0932\u092e)',
      '\u0958\u0932\u092e!',
      '\u0915\u093c\u0932\u092e, x',
    ],
    misses: [
      '\u0915\u0932\u092e',
      '\u0959\u0932\u092e',
      '\u0958\u0932',
      '\u0958\u0932\u092e\u093e',
      '\u0915 \u093c\u0932\u092e',
    ],
  },
  {
    rule: '2 an accent on a full-width, mathematical or ligature letter',
    keyword: 'caf\u00e9',
    matches: [
      'caf\uff45\u0301',
      '\uff43\uff41\uff46\uff45\u0301',
      '\uff23\uff21\uff26\uff25\u0301',
      'caf\u{1d41e}\u0301',
      'ca\uff46\u00e9',
    ],
    misses: ['caf\uff45', 'caf\uff45\u0300', 'caf\u{1d41e}', '\uff43\uff41\uff46\uff45', 'caf\uff45\u0301s'],
  },
  {
    rule: '2 an accent in a keyword that is decomposed',
    keyword: 'Malmo\u0308',
    matches: ['Malm\u00f6', 'malmo\u0308', 'MALM\u00d6', 'MALMO\u0308', 'in Malm\u00f6.'],
    misses: ['Malmo', 'Malm\u00f8', 'Malm\u00f3', 'Malmo \u0308', 'Malm\u00f6x', 'Malmoe'],
  },
  {
    rule: '2 full-width letters and digits',
    keyword: 'abcdefghijklmnopqrstuvwxyz0123456789',
    matches: [
      wide('abcdefghijklmnopqrstuvwxyz0123456789'),
      wide('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
      `abcdefghijklm${wide('nopqrstuvwxyz0123456789')}`,
      `(${wide('ABCDEFGHIJKLMabcdefghijklm').slice(0, 13)}nopqrstuvwxyz0123456789)`,
      `\u300c${wide('abcdefghijklmnopqrstuvwxyz')}0123456789\u300d`,
    ],
    misses: [
      wide('bcdefghijklmnopqrstuvwxyz0123456789'),
      wide('abcdefghijklmnopqrstuvwxyz012345678'),
      wide('aabcdefghijklmnopqrstuvwxyz0123456789'),
      wide('abcdefghijklm nopqrstuvwxyz0123456789'),
      wide('abcdefghijklmnopqrstuvwxyz01234567890'),
    ],
  },
  {
    rule: '2 full-width punctuation',
    keyword: 'a!"#$%&()*+,-./:;<=>?@[]^`{|}~b',
    matches: [
      'a!"#$%&()*+,-./:;<=>?@[]^`{|}~b',
      wide('a!"#$%&()*+,-./:;<=>?@[]^`{|}~b'),
      wide('A!"#$%&()*+,-./:;<=>?@[]^`{|}~B'),
      `a${wide('!"#$%&()*+,-./:;<=>?@')}[]^\`{|}~b`,
      `(${wide('a!"#$%&()*+,-./:;<=>?@[]^`{|}~b')})`,
    ],
    misses: [
      wide('a!"#$%&()*+,-./:;<=>?@[]^`{|}~bb'),
      wide('aa!"#$%&()*+,-./:;<=>?@[]^`{|}~b'),
      wide('a"#$%&()*+,-./:;<=>?@[]^`{|}~b'),
      wide('a!"#$%&()*+,-./:;<=>?@[]^`{|}b'),
      wide('a!"#$%&()*+,- ./:;<=>?@[]^`{|}~b'),
    ],
  },
  {
    rule: '2 a full-width keyword',
    keyword: wide('Rust'),
    matches: ['rust', wide('RUST'), '(rust)', `r${wide('ust')}`, "Rust's", wide("rust's"), `我用${wide('rust')}写`],
    misses: ['trust', wide('trust'), wide('rusty'), wide('rust_lang'), `rust${wide('2')}`, wide('rust').slice(1)],
  },
  {
    rule: '2 a full-width phrase with an ideographic space',
    keyword: 'new york',
    matches: [
      `${wide('new')}\u3000${wide('york')}`,
      wide('new-york'),
      `${wide('New')} York`,
      `${wide('(new')}\u3000${wide('york)')}`,
      wide('NEW').concat('\u3000\u3000YORK'),
    ],
    misses: [
      wide('newyork'),
      `${wide('new,')}\u3000${wide('york')}`,
      wide('new--york'),
      `${wide('new')}\u3000${wide('yorker')}`,
      wide('new_york'),
    ],
  },
  {
    rule: '2 half-width signs that are not kana stay',
    keyword: '\u00a5\u00a3',
    matches: ['\u00a5\u00a3', 'a\u00a5\u00a3b', '1\u00a5\u00a32', '\u00a5\u00a5\u00a3', '&#165;&#163;'],
    misses: ['\uffe5\uffe1', '\uffe5\u00a3', '\u00a5\uffe1', '\u00a5 \u00a3', '\u00a3\u00a5'],
  },
  ...(
    [
      ['カタカナ', '\uff76\uff80\uff76\uff85'],
      ['ガギグ', '\uff76\uff9e\uff77\uff9e\uff78\uff9e'],
      ['パソコン', '\uff8a\uff9f\uff7f\uff7a\uff9d'],
      ['ポケモン', '\uff8e\uff9f\uff79\uff93\uff9d'],
      ['コーヒー', '\uff7a\uff70\uff8b\uff70'],
      ['ヴァイオリン', '\uff73\uff9e\uff67\uff72\uff75\uff98\uff9d'],
      ['キャッシュ', '\uff77\uff6c\uff6f\uff7c\uff6d'],
      ['ヲタク', '\uff66\uff80\uff78'],
      ['ドラゴン\u30fbボール', '\uff84\uff9e\uff97\uff7a\uff9e\uff9d\uff65\uff8e\uff9e\uff70\uff99'],
      ['ザジズゼゾ', '\uff7b\uff9e\uff7c\uff9e\uff7d\uff9e\uff7e\uff9e\uff7f\uff9e'],
      ['ダヂヅデド', '\uff80\uff9e\uff81\uff9e\uff82\uff9e\uff83\uff9e\uff84\uff9e'],
      ['バビブベボ', '\uff8a\uff9e\uff8b\uff9e\uff8c\uff9e\uff8d\uff9e\uff8e\uff9e'],
      ['パピプペポ', '\uff8a\uff9f\uff8b\uff9f\uff8c\uff9f\uff8d\uff9f\uff8e\uff9f'],
      ['アイウエオナニヌネノ', '\uff71\uff72\uff73\uff74\uff75\uff85\uff86\uff87\uff88\uff89'],
      ['マミムメモヤユヨ', '\uff8f\uff90\uff91\uff92\uff93\uff94\uff95\uff96'],
      ['ラリルレロワン', '\uff97\uff98\uff99\uff9a\uff9b\uff9c\uff9d'],
      ['ハフホスセソサシ', '\uff8a\uff8c\uff8e\uff7d\uff7e\uff7f\uff7b\uff7c'],
      ['ァィゥェォャュョッ', '\uff67\uff68\uff69\uff6a\uff6b\uff6c\uff6d\uff6e\uff6f'],
    ] as const
  ).map(([full, half]) => kana(full, half)),
  {
    rule: '2 a voicing mark belongs to its kana',
    keyword: 'カキ',
    matches: ['カキ', '\uff76\uff77', '今日カキだ', '(カ\uff77)', 'カキカキ', 'xカキx'],
    misses: ['ガキ', '\uff76\uff9e\uff77', 'カ\u3099キ', '\uff76\uff77\uff9e', 'カギ', 'かき', 'カ キ'],
  },
  {
    rule: '2 a half-width keyword',
    keyword: '\uff83\uff9e\uff7d\uff78',
    matches: [
      'デスク',
      '\uff83\uff9e\uff7d\uff78',
      'テ\u3099スク',
      'スタンディングデスク',
      'デ\uff7d\uff78を買う',
      'xデスクx',
    ],
    misses: ['テスク', '\uff83\uff7d\uff78', 'デス', 'でスク', 'デ スク', 'デスグ'],
  },
  ligature('fish', '\ufb01sh', '\ufb02sh'),
  ligature('wifi', 'wi\ufb01', 'wi\ufb02'),
  ligature('flat', '\ufb02at', '\ufb01at'),
  ligature('reflex', 're\ufb02ex', 're\ufb01ex'),
  ligature('effort', 'e\ufb00ort', 'e\ufb03ort'),
  ligature('staff', 'sta\ufb00', 'sta\ufb04'),
  ligature('efficient', 'e\ufb03cient', 'e\ufb00cient'),
  ligature('coffin', 'co\ufb03n', 'co\ufb01n'),
  ligature('waffle', 'wa\ufb04e', 'wa\ufb03e'),
  ligature('baffled', 'ba\ufb04ed', 'ba\ufb02ed'),
  ligature('best', 'be\ufb05', 'be\ufb01'),
  ligature('style', '\ufb05yle', '\ufb01yle'),
  ligature('first', '\ufb01r\ufb06', '\ufb01r\ufb00'),
  ligature('stuff', '\ufb06u\ufb00', '\ufb06u\ufb01'),
  {
    rule: '2 ligatures in a keyword and in a phrase',
    keyword: 'o\ufb03ce sta\ufb00',
    matches: ['office staff', 'OFFICE STAFF', 'o\ufb00ice-staff', 'of\ufb01ce sta\ufb00', 'o\ufb03ce\nstaff\u2019s'],
    misses: [
      'office',
      'o\ufb01ce sta\ufb00',
      'o\ufb03ce, sta\ufb00',
      'o\ufb03ce sta\ufb00s',
      'o\ufb03cesta\ufb00',
      'o\ufb03ces sta\ufb00',
    ],
  },
  differ('2 not a ligature of the list', 'ae', '\u00e6'),
  differ('2 not a ligature of the list', 'oe', '\u0153'),
  differ('2 not a ligature of the list', 'ij', '\u0133'),
  differ('2 not a ligature of the list', 'lj', '\u01c9'),
  differ('2 not a ligature of the list', 'dz', '\u01f3'),
  differ('2 not a ligature of the list', '\u0574\u0576', '\ufb13'),
  ...(
    [
      ['bold', 0x1d400],
      ['italic', 0x1d434],
      ['bold italic', 0x1d468],
      ['script', 0x1d49c],
      ['bold script', 0x1d4d0],
      ['fraktur', 0x1d504],
      ['double-struck', 0x1d538],
      ['bold fraktur', 0x1d56c],
      ['sans-serif', 0x1d5a0],
      ['sans-serif bold', 0x1d5d4],
      ['sans-serif italic', 0x1d608],
      ['sans-serif bold italic', 0x1d63c],
      ['monospace', 0x1d670],
    ] as const
  ).map(([style, alphabet]): TermCase => {
    const m = (text: string): string => mathematical(alphabet, text);
    return {
      rule: `2 mathematical letters: ${style}`,
      keyword: 'rust',
      matches: [
        m('rust'),
        `${m('r')}ust`,
        `(${m('rust')})`,
        `${m('rust')}'s`,
        `learn ${m('rust')} now`,
        `_${m('rust')}_`,
        `用${m('rust')}写`,
        `r${m('UST')}`,
        m('rUST'),
        `(${m('rUSt')})`,
      ],
      misses: [
        m('trust'),
        m('rusty'),
        m('rus'),
        `${m('rust')}y`,
        `t${m('rust')}`,
        `${m('rust')}_lang`,
        m("rust'n"),
        m('ru st'),
      ],
    };
  }),
  {
    rule: '2 mathematical capitals',
    keyword: 'abcdefghijklmnopqrstuvwxyz',
    matches: [
      String.fromCodePoint(...Array.from({ length: 26 }, (_, k) => 0x1d400 + k)),
      String.fromCodePoint(...Array.from({ length: 26 }, (_, k) => 0x1d434 + k)),
      String.fromCodePoint(...Array.from({ length: 26 }, (_, k) => 0x1d5d4 + k)),
      String.fromCodePoint(...Array.from({ length: 26 }, (_, k) => 0x1d670 + k)),
      mathematical(0x1d400, 'abcdefghijklmnopqrstuvwxyz'),
      mathematical(0x1d56c, 'abcdefghijklmnopqrstuvwxyz'),
    ],
    misses: [
      mathematical(0x1d400, 'abcdefghijklmnopqrstuvwxy'),
      mathematical(0x1d400, 'bcdefghijklmnopqrstuvwxyz'),
      mathematical(0x1d400, 'zabcdefghijklmnopqrstuvwxyz'),
      mathematical(0x1d400, 'abcdefghijklm nopqrstuvwxyz'),
      mathematical(0x1d400, 'abcdefghijklmnopqrstuvwxyzz'),
    ],
  },
  {
    rule: '2 the mathematical letters among the letter-like symbols',
    keyword: 'bcefghilmnopqrz',
    matches: [
      '\u212c\u2102\u212f\u2131\u210a\u210d\u2110\u2112\u2133\u2115\u2134\u2119\u211a\u211d\u2124',
      '\u212c\u212d\u2130\u2131\u210a\u210b\u2111\u2112\u2133\u2115\u2134\u2119\u211a\u211b\u2128',
      'bce\u2131g\u210cilmnopq\u211cz',
      'b\u212defg\u210ei\u2112mnopqr\u2124',
      'BC\u2130FGHILMNOPQRZ',
    ],
    misses: [
      '\u212c\u2102\u212f\u2131\u210a\u210d\u2110\u2112\u2133\u2115\u2134\u2119\u211a\u211d',
      '\u212c\u2118\u212f\u2131\u210a\u210d\u2110\u2112\u2133\u2115\u2134\u2119\u211a\u211d\u2124',
      'bcefghilmnopqr\u2124s',
      'a\u212ccefghilmnopqrz',
      'bcefg\u210filmnopqrz',
    ],
  },
  {
    rule: '2 mathematical digits',
    keyword: '2024',
    matches: [
      '\u{1d7d0}\u{1d7ce}\u{1d7d0}\u{1d7d2}',
      '\u{1d7da}\u{1d7d8}\u{1d7da}\u{1d7dc}',
      '\u{1d7e4}\u{1d7e2}\u{1d7e4}\u{1d7e6}',
      '\u{1d7ee}\u{1d7ec}\u{1d7ee}\u{1d7f0}',
      '\u{1d7f8}\u{1d7f6}\u{1d7f8}\u{1d7fa}',
      'in \u{1d7d0}024.',
    ],
    misses: [
      '\u{1d7cf}\u{1d7d0}\u{1d7ce}\u{1d7d0}\u{1d7d2}',
      '\u{1d7d0}\u{1d7ce}\u{1d7d0}',
      '\u{1d7d0}\u{1d7ce} \u{1d7d0}\u{1d7d2}',
      '\u00b20\u00b24',
      '\u2461\u24ea\u2461\u2463',
      '\u0662\u0660\u0662\u0664',
    ],
  },
  {
    rule: '2 mathematical Greek',
    keyword: '\u03b1\u03b2\u03b3',
    matches: [
      '\u{1d6c2}\u{1d6c3}\u{1d6c4}',
      '\u{1d6a8}\u{1d6a9}\u{1d6aa}',
      '\u{1d6fc}\u{1d6fd}\u{1d6fe}',
      '\u{1d736}\u{1d737}\u{1d738}',
      '\u{1d770}\u{1d771}\u{1d772}',
      '\u{1d7aa}\u{1d7ab}\u{1d7ac}',
      '\u{1d790}\u{1d791}\u{1d792}',
    ],
    misses: [
      '\u{1d6c2}\u{1d6c3}',
      '\u{1d6c2}\u{1d6c3}\u{1d6c4}\u{1d6c4}',
      '\u{1d6c2} \u{1d6c3}\u{1d6c4}',
      'abc',
      '\u{1d6c2}\u{1d6c3}y',
      '\u{1d6c5}\u{1d6c3}\u{1d6c4}',
    ],
  },
  ...(
    [
      ['bold', 0x1d6a8],
      ['italic', 0x1d6e2],
      ['bold italic', 0x1d71c],
      ['sans-serif bold', 0x1d756],
      ['sans-serif bold italic', 0x1d790],
    ] as const
  ).map(([style, alphabet]): TermCase => {
    const greek = (...offsets: number[]): string => String.fromCodePoint(...offsets.map((offset) => alphabet + offset));
    return {
      rule: `2 mathematical Greek: ${style}`,
      keyword: '\u03b1\u03c9\u03b8\u03c3',
      matches: [
        greek(0, 24, 7, 18),
        greek(26, 50, 33, 44),
        greek(26, 24, 17, 43),
        greek(0, 50, 53, 18),
        `(${greek(26, 50, 33, 44)})`,
        `\u03b1\u03c9${greek(7, 18)}`,
      ],
      misses: [
        greek(0, 24, 7),
        greek(0, 24, 7, 18, 18),
        greek(0, 24, 6, 18),
        greek(1, 24, 7, 18),
        `a${greek(24, 7, 18)}`,
        `${greek(0, 24)} ${greek(7, 18)}`,
        `x${greek(0, 24, 7, 18)}`,
      ],
    };
  }),
  {
    rule: '2 mathematical variants of Greek letters',
    keyword: '\u03b5\u03b8\u03ba\u03c6\u03c1\u03c0',
    matches: [
      '\u{1d6c6}\u{1d6c9}\u{1d6cb}\u{1d6d7}\u{1d6d2}\u{1d6d1}',
      '\u{1d6dc}\u{1d6dd}\u{1d6de}\u{1d6df}\u{1d6e0}\u{1d6e1}',
      '\u03f5\u03d1\u03f0\u03d5\u03f1\u03d6',
      '\u0395\u03f4\u039a\u03a6\u03a1\u03a0',
      '\u{1d6ac}\u{1d6b9}\u{1d6b1}\u{1d6bd}\u{1d6b8}\u{1d6b7}',
    ],
    misses: [
      '\u03b5\u03b8\u03ba\u03c6\u03c1',
      '\u03b5\u03b8\u03ba\u03c8\u03c1\u03c0',
      'e\u03b8\u03ba\u03c6\u03c1\u03c0',
      '\u03b5\u03b8\u03ba\u03c6\u03c1\u03c0\u03c2',
      '\u03b5\u03b8 \u03ba\u03c6\u03c1\u03c0',
    ],
  },
  {
    rule: '2 a keyword of mathematical letters',
    keyword: '\u{1d5dd}\u{1d5ee}\u{1d603}\u{1d5ee}\u{1d5e6}\u{1d5f0}\u{1d5ff}\u{1d5f6}\u{1d5fd}\u{1d601}',
    matches: ['javascript', 'JavaScript', '(javascript)', "JavaScript's", wide('JavaScript')],
    misses: ['java', 'javascripts', 'java script', 'java-script', 'ajavascript'],
  },
  differ('2 no further compatibility', '2', '\u00b2'),
  differ('2 no further compatibility', '1', '\u2460'),
  differ('2 no further compatibility', '1', '\u00b9'),
  differ('2 no further compatibility', '3', '\u2083'),
  differ('2 no further compatibility', 'n', '\u207f'),
  differ('2 no further compatibility', 'a', '\u00aa'),
  differ('2 no further compatibility', 'iv', '\u2173'),
  differ('2 no further compatibility', 'kg', '\u338f'),
  differ('2 no further compatibility', 'no', '\u2116'),
  differ('2 no further compatibility', '1/2', '\u00bd'),
  differ('2 no further compatibility', '...', '\u2026'),
  differ('2 no further compatibility', '!!', '\u203c'),
  differ('2 no further compatibility', 'a', '\u24d0'),
  differ('2 no further compatibility', 'a', '\u{1f130}'),
  differ('2 no further compatibility', 'h', '\u02b0'),
  differ('2 no further compatibility', 'tel', '\u2121'),
  differ('2 no further compatibility', 'c', '\u2105'),
  {
    rule: '2 x\u00b2 stays x\u00b2',
    keyword: 'x\u00b2',
    matches: ['x\u00b2', 'X\u00b2', 'y=x\u00b2+1', '(x\u00b2)', '\uff58\u00b2', 'x&#178;'],
    misses: ['x2', 'x\u00b3', 'x', 'x \u00b2', 'x\u00b22', '2x\u00b2'],
  },
  {
    rule: '2 \u2460 stays \u2460',
    keyword: 'step \u2460',
    matches: ['step \u2460', 'Step\u00a0\u2460', 'step-\u2460', '(STEP \u2460)', 'step \u2460: go', 'step \u2460手'],
    misses: ['step 1', 'step\u2460', 'step \u2461', 'step (1)', 'steps \u2460', 'step \u24601'],
  },
  {
    rule: '2 \u2122, \u00ae and \u00a9 are separators',
    keyword: 'coca cola',
    matches: [
      'Coca-Cola\u00ae',
      'Coca Cola\u2122',
      '\u00a9Coca-Cola',
      'coca cola\u00a9x',
      '\u00aecoca cola\u00ae\u2122',
    ],
    misses: [
      'Coca\u00ae Cola',
      'Coca\u2122-Cola',
      'coca\u00a9cola',
      'coca cola\u00e9',
      'cocacola\u2122',
      'coca colas\u2122',
    ],
  },
  ...['\u2122', '\u00ae', '\u00a9', '\u2120', '\u2117'].flatMap((mark) => separates('2 signs', mark)),
];
