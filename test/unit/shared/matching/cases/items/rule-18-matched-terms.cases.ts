/** Rule 18: the matched terms are the keywords as written, in the monitor's order, each once. */
import type { MatchItem } from '../../../../../../shared/matching/rule.ts';
import { comment, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

function returned(keywords: readonly string[], item: MatchItem, expected: readonly string[] | undefined): ItemCase {
  return { rule: '18 matched terms', monitor: { keywords }, item, expected };
}

export const MATCHED_TERMS_CASES: readonly ItemCase[] = [
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

  returned(['new york', 'york'], comment('new york'), ['new york', 'york']),
  returned(['york', 'new york'], comment('new york'), ['york', 'new york']),
  returned(['b', 'Aa', 'CC'], comment('cc aa'), ['Aa', 'CC']),
  returned(['Aa', 'CC'], comment('cc cc cc'), ['CC']),
  returned([' "Aa" ', 'CC'], comment('aa'), [' "Aa" ']),
  returned(['Rust', 'RUST', 'go'], comment('go rust'), ['Rust', 'go']),
  returned(['a-b', 'a b', 'ab'], comment('a-b'), ['a-b', 'a b']),
  returned(['a-b', 'a b', 'ab'], comment('a b'), ['a b']),
  returned(['手机', '机'], comment('手机'), ['手机', '机']),
  returned([], comment('anything'), undefined),
  returned(['""', ' '], comment('anything ""'), undefined),
];
