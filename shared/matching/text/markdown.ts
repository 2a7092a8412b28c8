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
interface WrittenCharacter {
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

const BACKTICK = 0x60;

const BLANK = /[ \t\r]*(?:\n|$)/y;
const INDENT = /[ \t]/y;
const CODE_INDENT = / {4}| {0,3}\t/y;
const LIST_ITEM = /[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]/y;
const FENCE = / {0,3}(?:(`{3,})[^`\n]*|(~{3,})(?:[^~\n][^\n]*)?)(?:\n|$)/y;

function isAt(pattern: RegExp, text: string, offset: number): boolean {
  pattern.lastIndex = offset;
  return pattern.test(text);
}

/** Where a text is code by Markdown's rules. A text is read once, in linear time, when it is first asked about. */
export class CodeParts {
  #text = '';
  #isRead = true;
  /** The parts [from, to) in order, with the backticks and fences around them. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  /** The first backtick of the rest that was looked for, or -1. */
  #backtick = -1;

  set(text: string): void {
    this.#text = text;
    this.#isRead = false;
  }

  /** Whether the character at `offset` is a part of code. */
  has(offset: number): boolean {
    if (!this.#isRead) this.#read();
    let low = 0;
    let high = this.#from.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#to[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return (this.#from[low] ?? Infinity) <= offset;
  }

  #read(): void {
    const text = this.#text;
    this.#isRead = true;
    this.#backtick = text.indexOf('`');
    this.#from.length = 0;
    this.#to.length = 0;
    let paragraph = 0;
    let mayIndent = true;
    let isInList = false;
    let line = 0;
    const endParagraph = (): void => {
      this.#readSpans(paragraph, line);
    };
    while (line < text.length) {
      const end = lineAfter(text, line);
      if (isAt(BLANK, text, line)) {
        endParagraph();
        paragraph = end;
        mayIndent = true;
      } else if (mayIndent && !isInList && isAt(CODE_INDENT, text, line)) {
        this.#push(line, end);
        paragraph = end;
      } else if (isAt(FENCE, text, line)) {
        endParagraph();
        const close = fenceEnd(text, line, end);
        this.#push(line, close);
        paragraph = line = close;
        mayIndent = true;
        continue;
      } else {
        if (isAt(LIST_ITEM, text, line)) isInList = true;
        else if (mayIndent && !isAt(INDENT, text, line)) isInList = false;
        mayIndent = false;
      }
      line = end;
    }
    endParagraph();
  }

  /** The spans of a paragraph: from a run of backticks to the next one of the same length. */
  #readSpans(from: number, to: number): void {
    if (this.#backtick >= 0 && this.#backtick < from) this.#backtick = this.#text.indexOf('`', from);
    let first = this.#backtick;
    if (first < 0 || first >= to) return;
    const runs: { start: number; end: number }[] = [];
    const lastOfLength = new Map<number, number>();
    for (; first >= 0 && first < to; first = this.#text.indexOf('`', first)) {
      const start = first;
      while (this.#text.charCodeAt(first) === BACKTICK) first++;
      lastOfLength.set(first - start, runs.length);
      runs.push({ start, end: first });
    }
    for (let index = 0; index < runs.length; index++) {
      const { start, end } = runs[index]!;
      const opening = isEscaped(this.#text, start) ? start + 1 : start;
      // Without a run of this length behind it, it opens nothing.
      if (opening === end || (lastOfLength.get(end - opening) ?? 0) <= index) continue;
      index++;
      while (runs[index]!.end - runs[index]!.start !== end - opening) index++;
      this.#push(opening, runs[index]!.end);
    }
  }

  #push(from: number, to: number): void {
    this.#from.push(from);
    this.#to.push(to);
  }
}

function lineAfter(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline < 0 ? text.length : newline + 1;
}

/** The end of the lines that begin with the fence at `line`, with the closing one, which may be absent. */
function fenceEnd(text: string, line: number, next: number): number {
  FENCE.lastIndex = line;
  const [, backticks, tildes = ''] = FENCE.exec(text) ?? [];
  const opening = backticks ?? tildes;
  for (let offset = next; offset < text.length;) {
    const end = lineAfter(text, offset);
    const written = text.slice(offset, Math.min(end, offset + opening.length + 3)).trimStart();
    const rest = written.startsWith(opening) ? text.slice(offset, end).trim() : '';
    if (rest !== '' && Array.from(rest).every((character) => character === opening[0])) return end;
    offset = end;
  }
  return text.length;
}

/** Whether an odd number of backslashes stands before `offset`. */
function isEscaped(text: string, offset: number): boolean {
  let first = offset;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (offset - first) % 2 === 1;
}
