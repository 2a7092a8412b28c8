import type { TermCase } from './term-case.ts';

export const SCRIPTS_CASES: readonly TermCase[] = [
  // Rule 14: scripts without spaces match anywhere in the text.
  {
    rule: '14 Chinese matches anywhere',
    keyword: '手机',
    matches: ['手机', '我的手机坏了', '买手机。', 'iPhone手机', '手机2', '手\u200b机', '_手机_'],
    misses: ['手', '机手', '手 机', '手、机', '手-机', '手機'],
  },
  {
    rule: '14 Japanese matches anywhere',
    keyword: 'スター\u30fbトレック',
    matches: ['スター\u30fbトレック', '映画スター\u30fbトレックの', '\uff7d\uff80\uff70\uff65\uff84\uff9a\uff6f\uff78'],
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
  {
    rule: '14 a Korean syllable is one letter',
    keyword: '하나',
    matches: ['하나', '하나의', '\u1112\u1161\u1102\u1161', '또하나\u1102', 'x하나x', '\u1112\u1161나'],
    misses: ['한나', '하난', '하 나', '\u1112\u1161\u11ab\u1102\u1161', '나하', 'ㅎㅏㄴㅏ'],
  },
  {
    rule: '14 kana above the basic plane',
    keyword: '\u{1b000}\u{1b001}',
    matches: ['\u{1b000}\u{1b001}', 'x\u{1b000}\u{1b001}y', '\u{1b000}\u200d\u{1b001}'],
    misses: ['\u{1b000}', '\u{1b001}', '\u{1b000} \u{1b001}', '\u{1b000}x\u{1b001}'],
  },
  {
    rule: '14 Han of extension G',
    keyword: '\u{30edd}面',
    matches: ['\u{30edd}面', '2\u{30edd}面2', 'x\u{30edd}面y'],
    misses: ['面', '\u{30edd}', '\u{30edd} 面', '\u{30edd}x面'],
  },

  // Rule 15: keywords and texts that mix Latin words with scripts without spaces.
  {
    rule: '15 a mixed keyword has a boundary at its Latin end',
    keyword: 'iPhone手机',
    matches: ['iPhone手机', '我的iphone手机壳', '(IPHONE手机)', '\uff49Phone手机', 'a iPhone手机b'],
    misses: ['myiPhone手机', 'iPhone 手机', 'iPhones手机', '手机iPhone', 'iPhone-手机'],
  },
  {
    rule: '15 the same at the other end',
    keyword: '手机case',
    matches: ['手机case', '我手机CASE好', 'x手机case', '手机case.', "手机case's"],
    misses: ['手机cases', '手机 case', '手机case2', '机case', '手机case_x'],
  },
  {
    rule: '15 a Latin word ends where such a script begins',
    keyword: 'rust',
    matches: ['我用Rust写', 'Rustは', '전rust좀', 'รrustร', '\u30fbrust\u30fb', '一_rust'],
    misses: ['我用Rusty写', '我用trust', 'ru手st', '手', 'рust'],
  },
  {
    rule: '15 a space in such a keyword is whitespace, not a hyphen',
    keyword: 'Apple 手机',
    matches: ['apple 手机', 'Apple\u3000手机壳', 'Apple \n 手机', '买Apple 手机', 'Apple&nbsp;手机'],
    misses: ['Apple手机', 'Apple-手机', 'Apples 手机', 'Apple, 手机', 'apple 手 机'],
  },
  {
    rule: '15 other scripts do not end a Latin word',
    keyword: 'rust',
    matches: ['rust ж', 'ж-rust', 'я/rust', 'rust, \u05d0', '(rust)\u0905'],
    misses: ['rustж', 'жrust', 'rust\u05d0', '\u0905rust', 'rust\u0f40', '\ua000rust', 'rust\u1820'],
  },
  {
    rule: '15 a symbol at the beginning of a mixed keyword',
    keyword: '#東京',
    matches: ['#東京', '今日#東京タワー', '\\#東京', '\uff03東京', '.#東京', '(#東京)'],
    misses: ['東京', '##東京', 'a#東京', '2#東京', '# 東京', '#東 京', '\u00e9#東京'],
  },
  {
    rule: '15 punctuation inside a mixed keyword',
    keyword: 'C++编程',
    matches: ['C++编程', '学c++编程语言', 'C\uff0b\uff0b编程', '(C++编程)', 'C&#43;&#43;编程', '/C++编程'],
    misses: ['C编程', 'C+编程', 'C+++编程', 'C++ 编程', 'VC++编程', 'C#编程', 'C++-编程'],
  },
];
