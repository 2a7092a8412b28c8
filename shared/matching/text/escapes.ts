import type { CodeParts } from './code-parts.ts';

/** One pass decodes both, so that no result is decoded again: `&amp;lt;` is `&lt;`, not `<`. */
const ESCAPE = /\\([\\`*_{}[\]()#+\-.!:|&<>/^~])|&(?:([A-Za-z][A-Za-z\d]{1,7})|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/y;

/** The entities of HTML 4, and apos. A number is the code point of the name after it; further names count on. */
const NAMES = `
  34 quot 38 amp apos 60 lt 62 gt 160 nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr
  deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc
  Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde
  Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil
  egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave
  uacute ucirc uuml yacute thorn yuml 338 OElig oelig 352 Scaron scaron 376 Yuml 402 fnof 710 circ 732 tilde
  913 Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho 931 Sigma Tau Upsilon Phi
  Chi Psi Omega 945 alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma
  tau upsilon phi chi psi omega 977 thetasym upsih 982 piv 8194 ensp emsp 8201 thinsp 8204 zwnj zwj lrm rlm 8211 ndash
  mdash 8216 lsquo rsquo sbquo 8220 ldquo rdquo bdquo 8224 dagger Dagger bull 8230 hellip 8240 permil 8242 prime Prime
  8249 lsaquo rsaquo 8254 oline 8260 frasl 8364 euro 8465 image 8472 weierp 8476 real 8482 trade 8501 alefsym 8592 larr
  uarr rarr darr harr 8629 crarr 8656 lArr uArr rArr dArr hArr 8704 forall 8706 part exist 8709 empty 8711 nabla isin
  notin 8715 ni 8719 prod 8721 sum minus 8727 lowast 8730 radic 8733 prop infin 8736 ang 8743 and or cap cup int
  8756 there4 8764 sim 8773 cong 8776 asymp 8800 ne equiv 8804 le ge 8834 sub sup nsub 8838 sube supe 8853 oplus
  8855 otimes 8869 perp 8901 sdot 8968 lceil rceil lfloor rfloor 9001 lang rang 9674 loz 9824 spades 9827 clubs
  9829 hearts diams`;

export const ENTITIES: ReadonlyMap<string, number> = readNames();

function readNames(): Map<string, number> {
  const entities = new Map<string, number>();
  let codePoint = 0;
  for (const word of NAMES.trim().split(/\s+/)) {
    if (/^\d/.test(word)) codePoint = Number(word);
    else entities.set(word, codePoint++);
  }
  return entities;
}

const REPLACEMENT = 0xfffd;

const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;

/** A character of the original text: its code point and its length there in code units. */
export interface WrittenCharacter {
  readonly codePoint: number;
  readonly length: number;
}

function characterReference(digits: string, radix: number): number {
  const codePoint = Number.parseInt(digits, radix);
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff);
  return isCharacter ? codePoint : REPLACEMENT;
}

/** The entity or Markdown escape at `offset`, decoded once, or undefined if there is none. Code has no escapes. */
export function escapeAt(text: string, offset: number, code: CodeParts): WrittenCharacter | undefined {
  const unit = text.charCodeAt(offset);
  if (unit !== AMPERSAND && unit !== BACKSLASH) return undefined;
  ESCAPE.lastIndex = offset;
  const match = ESCAPE.exec(text);
  if (match === null || (unit === BACKSLASH && code.has(offset))) return undefined;
  const [{ length }, escaped, name, decimal, hexadecimal] = match;
  if (escaped !== undefined) return { codePoint: escaped.charCodeAt(0), length };
  if (name !== undefined) {
    const codePoint = ENTITIES.get(name);
    return codePoint === undefined ? undefined : { codePoint, length };
  }
  if (decimal !== undefined) return { codePoint: characterReference(decimal, 10), length };
  return { codePoint: characterReference(hexadecimal ?? '', 16), length };
}

export function characterAt(text: string, offset: number, code: CodeParts): WrittenCharacter {
  const escape = escapeAt(text, offset, code);
  if (escape !== undefined) return escape;
  const codePoint = text.codePointAt(offset) ?? 0;
  return { codePoint, length: codePoint > 0xffff ? 2 : 1 };
}
