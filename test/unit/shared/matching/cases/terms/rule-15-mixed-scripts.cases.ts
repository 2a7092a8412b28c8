/** Rule 15: keywords and texts that mix Latin words with scripts without spaces. */
import type { TermCase } from './term-case.ts';

/** A row for a Latin word next to characters of a script without spaces. */
function endsWords(script: string, character: string): TermCase {
  return {
    rule: `15 a Latin word ends at ${script}`,
    keyword: 'rust',
    matches: [
      `${character}rust`,
      `rust${character}`,
      `${character}RUST${character}`,
      `a${character}Rust${character}b`,
      `${character}_rust_${character}`,
      `${character}rust's${character}`,
    ],
    misses: [
      `${character}trust`,
      `rusty${character}`,
      `ru${character}st`,
      `${character}rust_lang`,
      `rust2${character}`,
      `${character}rust\u0301`,
    ],
  };
}

export const MIXED_SCRIPTS_CASES: readonly TermCase[] = [
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
  ...(
    [
      ['Han', '用'],
      ['Han above the basic plane', '\u{20bb7}'],
      ['an iteration mark', '々'],
      ['Hiragana', 'は'],
      ['Katakana', 'ノ'],
      ['half-width kana', '\uff89'],
      ['a long vowel mark', 'ー'],
      ['a middle dot of Katakana', '\u30fb'],
      ['Hangul', '는'],
      ['conjoining jamo', '\u1102\u1173'],
      ['compatibility jamo', 'ㅋ'],
      ['Bopomofo', 'ㄅ'],
      ['Thai', 'ก'],
      ['Lao', '\u0e81'],
      ['Khmer', '\u1780'],
      ['Myanmar', '\u1000'],
    ] as const
  ).map(([script, character]) => endsWords(script, character)),
  {
    rule: '15 other scripts do not end a Latin word',
    keyword: 'rust',
    matches: ['rust ж', 'ж-rust', 'я/rust', 'rust, \u05d0', '(rust)\u0905'],
    misses: ['rustж', 'жrust', 'rust\u05d0', '\u0905rust', 'rust\u0f40', '\ua000rust', 'rust\u1820', '\u03b1rust'],
  },
  {
    rule: '15 a number next to an ideograph',
    keyword: '2024',
    matches: ['2024年', '在2024年', '第2024', '2024\u5e74 2025', '２０２４年'],
    misses: ['12024年', '2024a年', '在20245年', '2024_a年', '二〇二四年'],
  },
  {
    rule: '15 a phrase in a text without spaces',
    keyword: 'machine learning',
    matches: [
      '我学machine learning了',
      'machine learningは',
      '用Machine-Learning写',
      'の machine\u3000learning の',
      '(machine learning)手',
    ],
    misses: [
      'machine学learning',
      'machine 学 learning',
      '我学machine learnings了',
      '用amachine learning',
      'machinelearning手',
    ],
  },
  {
    rule: '15 Latin at the beginning',
    keyword: 'T恤',
    matches: ['T恤', '白T恤衫', 't恤', '买T恤', '(T恤)', '\uff34恤', '#T恤'],
    misses: ['AT恤', 'T 恤', 'T-恤', '恤', '2T恤', '_x_aT恤', '恤T', 'T_恤'],
  },
  {
    rule: '15 Latin at the end',
    keyword: '卡拉OK',
    matches: ['卡拉OK', '去卡拉ok吧', '卡拉OK!', "卡拉OK's", '唱卡拉\uff2f\uff2b', 'x卡拉OK', '卡拉OK_'],
    misses: ['卡拉OKs', '卡拉OK2', '卡拉 OK', '卡OK', '卡拉OK_x', '卡拉-OK', '卡拉O K'],
  },
  {
    rule: '15 Latin at both ends',
    keyword: 'iPhone用USB',
    matches: ['iPhone用USB', '买iphone用usb线', '(iPhone用USB)', 'iPhone用USB-C', "iPhone用usb's"],
    misses: ['myiPhone用USB', 'iPhone用USBs', 'iPhones用USB', 'iPhone 用USB', 'iPhone用 USB', 'iPhone用usb3'],
  },
  {
    rule: '15 Latin in the middle',
    keyword: '学Rust的',
    matches: ['学Rust的', '我学rust的人', 'x学RUST的x', '学\uff32ust的', '学R\u200bust的'],
    misses: ['学Rusty的', '学Trust的', '学 Rust的', '学Rust 的', '学-Rust的', '学Rust', "学Rust's的"],
  },
  {
    rule: '15 a number at the beginning',
    keyword: '3D打印',
    matches: ['3D打印', '用3d打印机', '(3D打印)', '\uff13\uff24打印', '-3D打印'],
    misses: ['13D打印', '3 D打印', '3D 打印', 'x3D打印', '3D-打印', '3DX打印'],
  },
  {
    rule: '15 a number at the end',
    keyword: '小米14',
    matches: ['小米14', '买小米14吧', '小米14, 小米15', 'x小米14', '小米14-pro', '小米１４'],
    misses: ['小米140', '小米1', '小米14pro', '小米 14', '米14', '小米14_x', '小米14½'],
  },
  {
    rule: '15 Hangul and Latin',
    keyword: '갤럭시S24',
    matches: [
      '갤럭시S24',
      '새갤럭시s24는',
      '갤럭시S24+',
      '갤럭시S24!',
      '\u1100\u1162\u11af\u1105\u1165\u11a8\u1109\u1175S24',
    ],
    misses: ['갤럭시S24U', '갤럭시 S24', '갤럭시S2', '갤럭시S245', '갤럭시-S24'],
  },
  {
    rule: '15 Thai and Latin',
    keyword: 'ใช้Rust',
    matches: ['ใช้Rust', 'เราใช้rustเขียน', 'ใช้\u200bRust', 'ใช้RUST.', "xใช้Rust's"],
    misses: ['ใช้Rusty', 'ใช้ Rust', 'ใช้Rust2', 'ใชRust', 'ใช้-Rust', 'ใช้'],
  },
  {
    rule: '15 a space in a mixed keyword is whitespace',
    keyword: 'Python 入門',
    matches: [
      'Python 入門',
      'python\u3000入門書',
      'これPython\n入門',
      'PYTHON \t 入門',
      'Python&nbsp;入門',
      'python\u2003入門',
    ],
    misses: [
      'Python入門',
      'Python-入門',
      'Pythons 入門',
      'Python, 入門',
      'Python 入 門',
      'CPython 入門',
      'Python の入門',
      "Python's 入門",
    ],
  },
  {
    rule: '15 a space between Latin words of a mixed keyword is whitespace as well',
    keyword: 'new york 纽约',
    matches: ['New York 纽约', 'new\u3000york\n纽约', '在new york 纽约市', '(NEW  YORK  纽约)', 'new york\u00a0纽约'],
    misses: ['new-york 纽约', 'new york-纽约', 'new york纽约', 'newyork 纽约', 'new york, 纽约', 'new yorks 纽约'],
  },
  {
    rule: '15 a space between ideographs is whitespace',
    keyword: '北京 大学',
    matches: ['北京 大学', '在北京\u3000大学里', '北京\n\n大学', '北京&nbsp;大学', 'x北京\t大学x'],
    misses: ['北京大学', '北京-大学', '北京,大学', '北 京大学', '北京 的大学', '大学 北京'],
  },
  {
    rule: '15 a symbol at the beginning of a mixed keyword',
    keyword: '#東京',
    matches: ['#東京', '今日#東京タワー', '\\#東京', '\uff03東京', '.#東京', '(#東京)'],
    misses: ['東京', '##東京', 'a#東京', '2#東京', '# 東京', '#東 京', '\u00e9#東京'],
  },
  {
    rule: '15 a symbol at the end of a mixed keyword',
    keyword: '頑張れ!',
    matches: ['頑張れ!', 'もっと頑張れ!今', '頑張れ\uff01', '頑張れ!?', 'x頑張れ!x', '頑張れ&#33;'],
    misses: ['頑張れ', '頑張れ!!', '頑張れ\uff01\uff01', '頑張れ !', '頑張!', '頑張れ?!'],
  },
  {
    rule: '15 punctuation inside a mixed keyword',
    keyword: 'C++编程',
    matches: ['C++编程', '学c++编程语言', 'C\uff0b\uff0b编程', '(C++编程)', 'C&#43;&#43;编程', '/C++编程'],
    misses: ['C编程', 'C+编程', 'C+++编程', 'C++ 编程', 'VC++编程', 'C#编程', 'C++-编程'],
  },
  {
    rule: '15 an emoji in a mixed keyword',
    keyword: '加油\u{1f4aa}',
    matches: [
      '加油\u{1f4aa}',
      '中国加油\u{1f4aa}\u{1f3fb}!',
      '加油\u{1f4aa}\u{1f4aa}',
      'x加油\u{1f4aa}x',
      '加油\u{1f4aa}\ufe0f',
    ],
    misses: ['加油', '加油 \u{1f4aa}', '\u{1f4aa}加油', '加油!\u{1f4aa}', '加\u{1f4aa}油', '油\u{1f4aa}'],
  },
];
