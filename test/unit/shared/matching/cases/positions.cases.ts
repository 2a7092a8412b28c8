/**
 * The position of a match in the original text: from the first UTF-16 unit of the match's first character to the end of
 * the last character that contributes to it. Entities and escapes are included as a whole. Invisible characters inside
 * the match are included, those before and after it are not. A possessive 's after a word is not included. An accent
 * belongs to its letter.
 */
export interface PositionCase {
  name: string;
  keyword: string;
  text: string;
  /** The original text of the first match. */
  found: string;
  /** In UTF-16 units of `text`. */
  start: number;
}

function position(name: string, keyword: string, before: string, found: string, after: string): PositionCase {
  return { name, keyword, text: before + found + after, found, start: before.length };
}

export const POSITION_CASES: readonly PositionCase[] = [
  position('a word', 'rust', 'I like ', 'Rust', ', really'),
  position('the first of several', 'rust', 'trust rusty ', 'rust', ' rust RUST'),
  position('a word after letters of two units', 'rust', '\u{10414}\u{1042f} \u{1d5ff}x ', 'rust', ''),
  position('a word after decomposed letters', 'rust', 'cafe\u0301 nai\u0308ve ', 'rust', ' e\u0301'),
  position('a word after invisible characters', 'rust', '\ufeff\u200b a\u00ad \u2060', 'rust', ''),
  position('a word after jamo and half-width kana', 'rust', '\u1112\u1161\u11ab\uff76\uff9e', 'rust', '\u1112\u1161'),
  position('a word between underscores', 'rust', 'a __', 'rust', '__ b'),
  position('a keyword with underscores around it', '__init__', 'def __', 'init', '__(self)'),
  position('a word between ideographs', 'rust', '我\u{20bb7}用', 'Rust', '写'),

  position('a possessive is not included', 'rust', '', 'Rust', '\u2019s compiler'),
  position('a possessive as an entity is not included', 'rust', 'the ', 'rust', '&#39;s'),
  position('a possessive with invisible characters is not included', 'rust', '', 'rust', "\u200b'\u200bs"),
  position('a possessive after a phrase is not included', 'new york', 'in ', 'new york', "'s"),
  position('a possessive that the keyword has', "Wendy's", 'at ', 'Wendy\u2019s', '.'),
  position('an elided word is not included', 'ia', 'de l\u2019', 'IA', "'s"),
  position('an elided word that the keyword has', "l'ia", 'de ', 'l\u2019IA', ' '),
  position('quotes around are not covered', '"rust"', '"', 'rust', '"'),

  position('several inside, some around', 'rust', 'a \u200d', 'r\u200bu\u00ad\u2060s\ufe0ft', '\u200c\ufeff b'),
  position('one inside as an entity, one before, one after', 'rust', '&#x200B;', 'ru&#x200B;st', '&#8203;'),
  position('a variation selector of two units', 'rust', '', 'ru\u{e0100}st', '\u{e0100}!'),
  position('all letters as numbers', 'rust', '&#32;', '&#114;&#x75;&#115;&#x74;', '&#32;'),
  position('names that are read once', 'amp', 'AT&amp;', 'amp', ';T'),
  position('names that are read once', 'x200b', '&amp;#', 'x200B', ';'),

  position('a decomposed letter at the end', 'caf\u00e9', 'a ', 'cafe\u0301', ' b'),
  position('an accent after an invisible character', 'caf\u00e9', '', 'cafe\u200d\u0301', '\u200d'),
  position('two accents in another order', 'vi\u1ec7', '', 'vie\u0302\u0323', '!'),
  position('a dot above a capital I', 'izmir', 'in ', 'I\u0307ZMIR', '!'),
  position('an accent after another word stays outside', 'rust', 'e\u0301 ', 'rust', ' \u0301'),
  position('full-width letters', 'rust', '\uff08', '\uff32\uff35\uff33\uff34', '\uff09'),
  position('mathematical letters', 'rust', '\u{1d5ee} ', '\u{1d5ff}\u{1d602}\u{1d600}\u{1d601}', ' \u{1d5ee}'),
  position('Deseret in another case', '\u{1043c}\u{1042f}', '\u{1f980}', '\u{10414}\u{10407}', '!'),
  position('a ligature at the beginning', 'first', 'the ', '\ufb01rst', ' one'),
  position('a ligature at the end', 'best', 'the ', 'be\ufb06', ' one'),

  position('a phrase', 'new york', 'In ', 'New York', ', there'),
  position('a run of whitespace', 'new york', 'In  ', 'New \t\r\n\u00a0 York', '  '),
  position('a hyphen', 'new york', 'brand-', 'new\u2011york', '-based'),
  position('a space as an entity', 'new york', '&nbsp;', 'new&nbsp;&#32;york', '&nbsp;'),
  position('invisible characters in a gap', 'new york', '\u200b', 'new\u200b \u200b\u200byork', '\u200b'),
  position('a phrase that begins again in its middle', 'no no yes', 'no ', 'no no yes', ' yes'),
  position('a phrase after a partial match', 'new york', 'new, york new yorker ', 'new york', '!'),

  position('an ampersand as an entity', 'AT&T', 'my ', 'AT&amp;T', ' bill'),
  position('a sign at the beginning as an entity', '<3', 'I ', '&lt;3', ' you'),
  position('a sign at the end as an entity', 'x =>', 'f: ', 'x =&gt;', ' y'),
  position('escapes inside', 'f(x)y', '2\\*', 'f\\(x\\)y', '\\)'),
  position('an escaped underscore inside', 'rust_lang', '\\_', 'rust\\_lang', '\\_'),
  position('an invisible character before the sign at the beginning', '$TSLA', 'a \u200b', '$\u200bTSLA', ''),
  position('an invisible character after the sign at the end', 'C++', '', 'C+\u200b+', '\u200b17'),
  position('a sign at the end, after a partial match', 'C++', 'C+++ ', 'c++', '17'),
  position('a sign at the beginning, after a partial match', '.NET', 'ASP.NET ..NET ', '.net', '.'),
  position('a single letter, after a partial match', 'plan B', 'plan B+, plan B#, ', 'plan B', '.'),

  position('symbols anywhere', ':-)', 'ok', ':-)', ')'),
  position('symbols with a space', '+ +', '+', '+ \n +', '+'),
  position('emoji', '\u{1f980}\u{1f680}', 'x\u{1f980}', '\u{1f980}\u{1f680}', '\u{1f680}'),
  position('emoji as numbers', '\u{1f980}\u{1f680}', '', '&#129408;&#x1F680;', ''),
  position('a variation selector inside', '\u2764\u2600', 'a', '\u2764\ufe0f\u2600', 'b'),
  // Both vanish in folding, and what is invisible behind the last character is not covered.
  position('a variation selector after it', '\u{1f980}\u2764', 'a', '\u{1f980}\u2764', '\ufe0f'),
  position('a skin tone after it', '\u2764\u{1f44d}', 'a', '\u2764\u{1f44d}', '\u{1f3fd}'),
  position('joined emoji', '\u{1f469}\u200d\u{1f4bb}', 'a ', '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}', '!'),
  position('emoji beside joined ones', '\u{1f469}', '\u{1f469}\u200d\u{1f4bb}', '\u{1f469}', '\u{1f3fd}!'),
  position('a flag after others', '\u{1f1ec}\u{1f1e7}', '\u{1f1fa}\u{1f1f8}', '\u{1f1ec}\u{1f1e7}', '\u{1f1e7}'),
  position('an emoji between words', 'I \u2764\ufe0f NY', '', 'I \u2764\ufe0f NY', '.'),

  position('ideographs', '手机', '我的', '手机', '坏了'),
  position('ideographs of two units', '\u{20bb7}野', '\u{20bb7}\u{20000}', '\u{20bb7}野', '家'),
  position('an ideograph that is another', '\u8c48\u6709', '此', '\uf900\u6709', '此'),
  position('an ideograph of two units that is another', '丽人', '我', '\u{2f800}人', '们'),
  position('a letter that is another at the end', '\u03ba\u03ac', 'a ', '\u03ba\u1f71', ' b'),
  position(
    'a letter that NFC takes apart at the beginning',
    '\u0958\u0932\u092e',
    '\u00ab',
    '\u0958\u0932\u092e',
    '\u00bb',
  ),
  position('a letter that NFC takes apart at the end', '\u0932\u0958', '\u00ab', '\u0932\u0958', '\u00bb'),
  position('a word after letters that NFC rewrites', 'rust', '\u1f71\uf900 \u0958 ', 'rust', ' \u1f71'),
  position('half-width kana with a voicing mark at the end', 'カギ', 'カ', '\uff76\uff77\uff9e', '\uff77'),
  position('half-width kana with a voicing mark at the beginning', 'ガキ', 'カ', '\uff76\uff9e\uff77', 'カ'),
  position('conjoining jamo', '한국', '나', '\u1112\u1161\u11ab\u1100\u116e\u11a8', '\u110b\u1165'),
  position('a mixed keyword', 'iPhone手机', '新', 'iphone手机', '壳'),
  position('a space in a mixed keyword', 'Apple 手机', '买', 'Apple\u3000\n 手机', '壳'),
  position('a zero-width space in Thai is a space', 'ภาษา ไทย', 'ก', 'ภาษา\u200bไทย', '\u200bก'),
  position('a zero-width space around a Thai word', 'ภาษา', 'ที่\u200b', 'ภาษา', '\u200bไทย'),
];
