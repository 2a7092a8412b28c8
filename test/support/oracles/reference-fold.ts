import { ENTITIES } from '../../../shared/matching/text/markdown.ts';
import { foldCase } from '../../../shared/matching/text/folding.ts';

const BEYOND_ASCII = /[^\0-\x7f]/;
/** Below U+0300 every string is in NFC already. */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/** One pass decodes both, so that no result is decoded again: `&amp;lt;` is `&lt;`, not `<`. */
const ESCAPE = /\\([\\`*_{}[\]()#+\-.!:|&<>/^~])|&(?:([A-Za-z][A-Za-z\d]{1,7})|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/y;
const BACKTICKS = /^[`\uff40\u1fef]$/;
/** Stands for a backtick in code, which is no apostrophe. */
const CODE_BACKTICK = '\u{10fffd}';

const VARIATION_SELECTOR = /\p{Variation_Selector}/gu;
const INVISIBLE_BUT_SPACE =
  /[\u034f\u0640\u00ad\u061c\u180e\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;
/** In these scripts the zero-width space separates words. */
const SPACE_OF_SPACELESS =
  /(?<=[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])\u200b+(?=[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])/gu;
const ZERO_WIDTH_SPACE = /\u200b/g;
/** Only after an emoji that takes it. Elsewhere it is a symbol of its own and separates words. */
const SKIN_TONE = /(?<=\p{Emoji_Modifier_Base}[\p{Emoji_Modifier}\u{10fffc}]*)\p{Emoji_Modifier}/gu;
/** Between emoji, which a skin tone may follow. */
const JOINER =
  /(?<=\p{Emoji_Modifier_Base}[\u200b\u200d\p{Emoji_Modifier}]*)\u200d(?=[\u200b\u200d\p{Emoji_Modifier}]*[\p{Extended_Pictographic}--\p{L}])|(?<=[\p{Extended_Pictographic}--\p{L}][\u200b\u200d]*)\u200d(?=[\u200b\u200d]*[\p{Extended_Pictographic}--\p{L}])/gv;
/** Stands for a joiner that stays. */
const KEPT_JOINER = '\u{10fffc}';

/**
 * Full-width ASCII, half-width kana, Latin ligatures, mathematical letters and digits, and the letters that Unicode
 * omitted from the mathematical block because they already were letter-like symbols (ℎ is the italic h). No other
 * compatibility form is changed: x² stays x².
 */
const COMPATIBLE =
  /[\uff01-\uff5e\uff61-\uff9f\ufb00-\ufb06\u{1d400}-\u{1d7ff}\u2102\u210a-\u210e\u2110-\u2113\u2115\u2119-\u211d\u2124\u2128\u212c\u212d\u212f-\u2131\u2133\u2134]/gu;
const APOSTROPHE = /[\u00b4\u02bc\u2018\u2019]/g;
const HYPHEN = /[\u2010\u2011]/g;

const WHITESPACE_RUN = /[\p{White_Space}\u3164\uffa0\u2800]{2,}|[[\p{White_Space}\u3164\uffa0\u2800]--[ ]]/gv;

function characterReference(digits: string, radix: number): string {
  const codePoint = Number.parseInt(digits, radix);
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff);
  return isCharacter ? String.fromCodePoint(codePoint) : '\ufffd';
}

/** Which code units are code in Markdown: fenced and indented lines, and spans between backticks. */
function codeUnits(text: string): boolean[] {
  const isCode: boolean[] = [];
  const mark = (from: number, to: number): void => {
    for (let unit = from; unit < to; unit++) isCode[unit] = true;
  };
  let [offset, paragraph, fence, isList, isAfterText] = [0, 0, '', false, false];
  const readSpans = (): void => {
    for (const { 0: found, 1: ticks, index } of text
      .slice(paragraph, offset)
      .matchAll(/\\[\s\S]|(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)|`+/g)) {
      if (ticks !== undefined) mark(paragraph + index, paragraph + index + found.length);
    }
  };
  for (const line of text.split(/(?<=\n)/)) {
    const end = offset + line.length;
    const opening = /^ {0,3}(?:(`{3,})[^`\n]*|(~{3,}).*)$/s.exec(line);
    const isIndented = !isList && !isAfterText && /^(?: {4}| {0,3}\t)/.test(line);
    const isText = fence === '' && /[^ \t\r\n]/.test(line) && !isIndented && opening === null;
    if (!isText && fence === '') readSpans();
    if (fence !== '' || isIndented || opening !== null) if (/[^ \t\r\n]/.test(line) || fence !== '') mark(offset, end);
    if (fence !== '') {
      const closes = /^\s{0,3}(`+|~+)\s*$/.exec(line)?.[1];
      if (closes?.startsWith(fence) === true) fence = '';
    } else if (opening !== null && !isIndented) fence = opening[1] ?? opening[2] ?? '';
    if (isText && /^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]/.test(line)) isList = true;
    else if (isText && !isAfterText && !/^[ \t]/.test(line)) isList = false;
    isAfterText = isText;
    offset = end;
    if (!isText) paragraph = end;
  }
  readSpans();
  return isCode;
}

function unescape(text: string): string {
  const isCode = codeUnits(text);
  let result = '';
  for (let offset = 0; offset < text.length;) {
    ESCAPE.lastIndex = offset;
    const [whole = '', escaped, name, decimal, hexadecimal] = ESCAPE.exec(text) ?? [];
    const code = name === undefined ? undefined : ENTITIES.get(name);
    const isEscape =
      whole !== '' && (name === undefined || code !== undefined) && !(escaped !== undefined && isCode[offset]);
    let character = text.charAt(offset);
    if (isEscape && escaped !== undefined) character = escaped;
    else if (isEscape && code !== undefined) character = String.fromCodePoint(code);
    else if (isEscape)
      character = decimal !== undefined ? characterReference(decimal, 10) : characterReference(hexadecimal ?? '', 16);
    result += isCode[offset] && BACKTICKS.test(character) ? CODE_BACKTICK : character;
    offset += isEscape ? whole.length : 1;
  }
  return result;
}

function compose(text: string): string {
  return MAY_COMPOSE.test(text) ? text.normalize('NFC') : text;
}

const LETTER = `[[\\p{L}\\p{N}\\p{M}]--[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Bopomofo}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u302a-\\u302f\\u3099\\u309a\\u3006\\u3031-\\u3035\\u303c\\u30fb\\u30fc]]`;
const BACKTICK_BETWEEN_LETTERS = new RegExp(`(?<=${LETTER})\`(?=${LETTER})`, 'gv');

/** What is left when everything else is folded. */
function finish(folded: string): string {
  return folded.replace(BACKTICK_BETWEEN_LETTERS, "'").replaceAll(CODE_BACKTICK, '`').replace(WHITESPACE_RUN, ' ');
}

function foldBeyondAscii(text: string, fold: (text: string) => string): string {
  const visible = text
    .replace(VARIATION_SELECTOR, '')
    .replace(INVISIBLE_BUT_SPACE, '')
    .replace(JOINER, KEPT_JOINER)
    .replaceAll('\u200d', '')
    .replace(SPACE_OF_SPACELESS, ' ')
    .replace(ZERO_WIDTH_SPACE, '')
    .replace(SKIN_TONE, '')
    .replace(/\u{10fffc}+/gu, '\u200d');
  const plain = visible
    .replace(COMPATIBLE, (character) => character.normalize('NFKC'))
    .replace(APOSTROPHE, "'")
    .replace(HYPHEN, '-');
  // Twice: İ must be one character before its case is folded, and H with a line below has a composed form only as small
  // letter.
  return compose(fold(compose(plain)));
}

/**
 * The form in which keywords and texts are compared: entities and Markdown escapes decoded, invisible characters
 * removed, one form per letter, one case, every run of whitespace one space. Accepts any UTF-16, also lone surrogates,
 * in linear time.
 */
export function fold(text: string): string {
  const unescaped = /[&\\`\uff40\u1fef]/.test(text) ? unescape(text) : text;
  const folded = BEYOND_ASCII.test(unescaped) ? foldBeyondAscii(unescaped, foldCase) : unescaped.toLowerCase();
  return finish(folded);
}

/** The same with letters as written. */
export function foldAllButCase(text: string): string {
  return finish(foldBeyondAscii(unescape(text), (composed) => composed));
}
