/** Rule 14: scripts without spaces match anywhere in the text. */
import type { TermCase } from './term-case.ts';
import { decimal } from './term-templates.ts';

/** A row for a word in Hangul, as syllables and as conjoining jamo. Its last syllable must be open. */
function hangul(word: string): TermCase {
  const jamo = word.normalize('NFD');
  return {
    rule: '2 conjoining jamo are syllables, 14 Korean matches anywhere',
    keyword: word,
    matches: [word, jamo, `${jamo}에서`, `나는${word}`, `x${jamo}x`, `(${jamo})`, `${word}, ${word}`, `#${word}2`],
    misses: [
      jamo.slice(0, -1),
      `${jamo}\u11ab`,
      `${word}\u11ab`,
      Array.from(word).join(' '),
      Array.from(word).join('-'),
      word.slice(1),
      word.slice(0, -1),
    ],
  };
}

/**
 * A row for a keyword in a script without spaces. It needs at least two characters, none of which occurs in `around`.
 */
function anywhere(script: string, keyword: string, around: string): TermCase {
  const characters = Array.from(keyword);
  const [first = ''] = characters;
  const remainder = characters.slice(1).join('');
  return {
    rule: `14 ${script} matches anywhere`,
    keyword,
    matches: [
      keyword,
      `${around}${keyword}${around}`,
      `x${keyword}y`,
      `2${keyword}2`,
      `_${keyword}_`,
      `(${keyword})`,
      `${keyword}${keyword}`,
      `rust\u{1f980}${keyword}\u2019s`,
      `${first}\u200d${remainder}`,
      `${first}\u00ad${remainder}`,
      decimal(keyword),
    ],
    misses: [
      around,
      remainder,
      characters.slice(0, -1).join(''),
      `${first} ${remainder}`,
      `${first}-${remainder}`,
      `${first}x${remainder}`,
      `${first}_${remainder}`,
      `${first}\u3001${remainder}`,
      `${first}${around}${remainder}`,
      '',
    ],
  };
}

export const SCRIPTS_WITHOUT_SPACES_CASES: readonly TermCase[] = [
  {
    rule: '14 Chinese matches anywhere',
    keyword: '手机',
    matches: ['手机', '我的手机坏了', '买手机。', 'iPhone手机', '手机2', '手\u200b机', '_手机_'],
    misses: ['手', '机手', '手 机', '手、机', '手-机', '手機'],
  },
  {
    rule: '14 Japanese matches anywhere',
    keyword: 'スター\u30fbトレック',
    matches: [
      'スター\u30fbトレック',
      '映画スター\u30fbトレックの',
      '\uff7d\uff80\uff70\uff65\uff84\uff9a\uff6f\uff78',
      'aスター\u30fbトレックb',
      'スター\u30fbトレック2',
    ],
    misses: ['スタートレック', 'スタ\u30fbトレック', 'スター トレック', 'すたー\u30fbとれっく', 'スター\u00b7トレック'],
  },
  {
    rule: '14 Korean matches anywhere',
    keyword: '서울',
    matches: ['서울', '서울에서', '내서울', '\u1109\u1165\u110b\u116e\u11af', '서울,', 'x서울x'],
    misses: ['서', '서 울', '울서', '서우', '소울'],
  },
  {
    rule: '14 Thai matches anywhere',
    keyword: 'กาแฟ',
    matches: ['กาแฟ', 'ร้านกาแฟอร่อย', 'xกาแฟ', 'กาแฟ5', '(กาแฟ)'],
    misses: ['กา', 'กา แฟ', 'กแฟ', 'ก่าแฟ', 'kafe'],
  },
  anywhere('Han', '北京', '的'),
  anywhere('Han', '人工智能', '是'),
  anywhere('Han', '台積電', '股'),
  anywhere('Han, with an iteration mark', '佐々木', '氏'),
  anywhere('Han, with a zero', '二〇四', '年'),
  anywhere('Han above the basic plane', '\u{20bb7}野家', '店'),
  anywhere('Han above the basic plane alone', '\u{29e3d}\u{20000}', '\u{2070e}'),
  anywhere('Han of extension G', '\u{30edd}面', '吃'),
  anywhere('Hiragana', 'ありがと', 'う'),
  anywhere('Hiragana, with an iteration mark', 'こゝろ', 'の'),
  anywhere('Hiragana and Han', '食べる', 'を'),
  anywhere('Katakana', 'ロボット', 'ノ'),
  anywhere('Katakana with ー', 'サーバ', 'の'),
  anywhere('Katakana that ends with ー', 'データー', 'の'),
  anywhere('Katakana with ・', 'レオ\u30fbナルド', 'の'),
  anywhere('Katakana of the extension', '\u31f0\u31f1', 'ア'),
  anywhere('Kana above the basic plane', '\u{1b000}\u{1b001}', 'あ'),
  anywhere('Hangul', '삼성전자', '는'),
  anywhere('Hangul', '사랑', '을'),
  anywhere('Hangul compatibility jamo', 'ㅇㅋ', 'ㅎ'),
  anywhere('Bopomofo', 'ㄅㄆㄇ', 'ㄉ'),
  anywhere('Thai', 'กรุงเทพ', 'ท'),
  anywhere('Thai with tone marks', 'น้ำ', 'ม'),
  anywhere('Thai digits', '๒๕๖', '๗'),
  anywhere('Lao', '\u0ea5\u0eb2\u0ea7', '\u0e81'),
  anywhere('Khmer', '\u1781\u17d2\u1798\u17c2\u179a', '\u1780'),
  anywhere('Myanmar', '\u1019\u103c\u1014\u103a\u1019\u102c', '\u1000'),
  anywhere('all of them', '手あカ한ㄅก\u0e81\u1780\u1000', '中'),
  ...['서울에서', '한국어', '김치', '안녕하세요', '떡볶이'].map(hangul),
  {
    rule: '14 a Korean syllable is one letter',
    keyword: '하나',
    matches: ['하나', '하나의', '\u1112\u1161\u1102\u1161', '또하나\u1102', 'x하나x', '\u1112\u1161나'],
    misses: [
      '한나',
      '하난',
      '하 나',
      '\u1112\u1161\u11ab\u1102\u1161',
      '나하',
      '\u1112\u1161\u1102\u1161\u11ab',
      'ㅎㅏㄴㅏ',
    ],
  },
  {
    rule: '14 laughter',
    keyword: 'ㅋㅋ',
    matches: ['ㅋㅋ', 'ㅋㅋㅋㅋ', 'wwwㅋㅋ', '아ㅋㅋ네', 'ㅋㅋ2'],
    misses: ['ㅋ', 'ㅋ ㅋ', 'ㅋ-ㅋ', 'ㅎㅎ', 'ㅋㅎㅋ', '크크'],
  },
  {
    rule: '14 kana with voicing marks are different letters',
    keyword: 'はと',
    matches: ['はと', 'はとが', 'のはと', 'xはとx', 'はと2'],
    misses: ['ばと', 'ぱと', 'は\u3099と', 'はど', 'ハト', 'は と'],
  },
  {
    rule: '14 kinds of ideographs are not mixed',
    keyword: '发现',
    matches: ['发现', '我发现了', '发现!', 'x发现x', '新发现', '发\u200b现'],
    misses: ['發現', '发', '现发', '发 现', '发,现', '发-现'],
  },
  {
    rule: '14 a Latin word in a text without spaces does not prevent a match',
    keyword: '编程',
    matches: ['Rust编程', '编程Rust', '学编程2024', '#编程#', '@编程', 'r/编程', '**编程**', '编程\u{1f980}'],
    misses: ['编Rust程', '编.程', '编**程', '编_程', '编\u{1f980}程', '编2程'],
  },
  {
    rule: '14 in sentences',
    keyword: '東京',
    matches: [
      '今年の東京は暑い。',
      '東京タワーに行きました!',
      'I am in 東京 now',
      '[東京](https://example.com)で会おう',
      '「東京」という街',
      '東京2020',
      '大東京圏',
    ],
    misses: ['京東で買った', '東の京', '東 京', 'Tokyo', 'とうきょう', '東亰', '東・京'],
  },
  {
    rule: '14 in sentences',
    keyword: '비트코인',
    matches: [
      '비트코인이 또 올랐다',
      '오늘 비트코인은?',
      '#비트코인',
      '비트코인/이더리움',
      '"비트코인"',
      'BTC비트코인BTC',
    ],
    misses: ['비트 코인', '비트콘', '코인비트', '비트코', 'bitcoin', '비트-코인'],
  },
];
