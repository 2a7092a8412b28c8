/**
 * A second implementation of the word rules, with one regular expression per keyword, that shares no code with
 * shared/matching: slow, and short enough to be checked by eye. It expects folded texts and keywords.
 */
const SPACELESS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Bopomofo}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}' +
  '\\u302a-\\u302f\\u3099\\u309a\\u3006\\u3031-\\u3035\\u303c\\u30fb\\u30fc';
const WORD = `[[\\p{L}\\p{N}\\p{M}]--[${SPACELESS}]]`;

const HAS_WORD = new RegExp(WORD, 'v');
const HAS_SPACELESS = new RegExp(`[[\\p{L}\\p{N}\\p{M}\u30fb]&&[${SPACELESS}]]`, 'v');
const BEGINS_WITH_WORD = new RegExp(`^${WORD}`, 'v');
const ENDS_WITH_WORD = new RegExp(`${WORD}$`, 'v');
const ENDS_WITH_POSSESSIVE = new RegExp(`${WORD}'s$`, 'iv');
const ENDS_WITH_LETTER = new RegExp(
  `(?<!${WORD}|${WORD}_+|${WORD}')[\\p{L}--[${SPACELESS}]][\\p{M}--[${SPACELESS}]]*$`,
  'v',
);
const FREE_SYMBOL = /[\p{Extended_Pictographic}\p{Regional_Indicator}]/u;

const STRICT_BEGIN = `(?<!${WORD})(?<!${WORD}_+)(?<!${WORD}')`;
const ELIDED = `(?:[ldjnsmtc]|qu|un|all|dell|nell|sull)'`;

const GOES_ON = `(?:${WORD}|_+${WORD}|'${WORD})`;

function escape(text: string): string {
  return Array.from(text, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return /^[a-z0-9]$/.test(character) ? character : `\\u{${codePoint.toString(16)}}`;
  }).join('');
}

type Condition = (text: string, offset: number) => boolean;

const ALWAYS: Condition = () => true;

/**
 * A condition on an offset in the text. Sticky expressions check only that offset. They are compiled once, because
 * compiling is costly.
 */
function condition(source: string, flags = 'ivy'): Condition {
  const pattern = new RegExp(source, flags);
  return (text, offset) => {
    pattern.lastIndex = offset;
    return pattern.test(text);
  };
}

const NO_POSSESSIVE = `(?![sSſ](?!${GOES_ON}))`;
/** Also after an elided word, which begins like a word itself. */
const WORD_MAY_BEGIN = condition(`(?:${STRICT_BEGIN}|(?<=${STRICT_BEGIN}${ELIDED})${NO_POSSESSIVE})`);
const ELIDED_MAY_BEGIN = condition(STRICT_BEGIN);
const BEGINS_WITH_ELIDED = new RegExp(`^${ELIDED}${NO_POSSESSIVE}${WORD}`, 'iv');
const WORD_MAY_END = condition(`(?!${WORD}|_+${WORD}|(?!'[sSſ](?!${GOES_ON}))'${WORD})`);
const POSSESSIVE_MAY_END = condition(`(?!${GOES_ON})`);
const NO_WORD_BEFORE = condition(`(?<!${WORD})`);
const NO_PLUS_AFTER = condition('(?![+#])');

function leftCondition(keyword: string, flags: string, isPrefix: boolean): Condition {
  if (!isPrefix && BEGINS_WITH_ELIDED.test(keyword)) return ELIDED_MAY_BEGIN;
  if (BEGINS_WITH_WORD.test(keyword)) return WORD_MAY_BEGIN;
  const first = Array.from(keyword)[0] ?? '';
  if (HAS_SPACELESS.test(first) || FREE_SYMBOL.test(first)) return ALWAYS;
  const notTwice = condition(`(?<!${escape(first)})`, flags);
  return (text, offset) => NO_WORD_BEFORE(text, offset) && notTwice(text, offset);
}

function rightCondition(keyword: string, flags: string): Condition {
  if (ENDS_WITH_POSSESSIVE.test(keyword)) return POSSESSIVE_MAY_END;
  if (ENDS_WITH_LETTER.test(keyword))
    return (text, offset) => WORD_MAY_END(text, offset) && NO_PLUS_AFTER(text, offset);
  if (ENDS_WITH_WORD.test(keyword)) return WORD_MAY_END;
  const last = Array.from(keyword).at(-1) ?? '';
  return HAS_SPACELESS.test(last) || FREE_SYMBOL.test(last) ? ALWAYS : condition(`(?!${escape(last)})`, flags);
}

/** One word, which no possessive ends. */
const ONE_WORD = new RegExp(`^${WORD}+(?:(?:_+|')${WORD}+)*$`, 'v');

export interface NaiveOptions {
  /** Whether longer words that begin so count. Only for words of at least three code units. */
  prefix?: boolean;
  /** Whether case counts. Then keyword and texts must be folded by everything else. */
  caseSensitive?: boolean;
}

/** Whether the term can be a prefix. */
export function isNaivePrefix(keyword: string): boolean {
  return keyword.length >= 3 && ONE_WORD.test(keyword) && !ENDS_WITH_POSSESSIVE.test(keyword);
}

/** Whether the term could be written in another case: words count, whatever their letters are, and ⓐ. */
export function hasNaiveCase(keyword: string): boolean {
  return HAS_WORD.test(keyword) || /[\u24b6-\u24e9]/.test(keyword);
}

/** Whether the offset is inside joined emoji, or inside a flag: indicators pair from the left. */
function isInsideEmoji(text: string, offset: number): boolean {
  if (text[offset] === '\u200d' || text[offset - 1] === '\u200d') return true;
  const before = /(?:\p{Regional_Indicator})*$/u.exec(text.slice(0, offset))?.[0] ?? '';
  return (before.length / 2) % 2 === 1 && /^\p{Regional_Indicator}/u.test(text.slice(offset));
}

/** A search for the keyword in folded texts. It finds nothing if the keyword has nothing to search for. */
export function naiveSearch(
  foldedKeyword: string,
  { prefix = false, caseSensitive = false }: NaiveOptions = {},
): (foldedText: string) => boolean {
  const keyword = foldedKeyword.replace(/^[\s_"'‘“”„«»「」]+|[\s_"'‘“”„«»「」]+$/g, '');
  if (keyword === '') return () => false;
  const hasWord = HAS_WORD.test(keyword);
  const hasSpaceless = HAS_SPACELESS.test(keyword);
  const gap = hasWord && !hasSpaceless ? '(?:\\p{White_Space}+|-)' : '\\p{White_Space}+';
  const body = new RegExp(keyword.split(/\s+/).map(escape).join(gap), caseSensitive ? 'gv' : 'giv');
  const isSymbolic = !hasWord && !hasSpaceless;
  const flags = caseSensitive ? 'vy' : 'ivy';
  const mayBegin = isSymbolic ? ALWAYS : leftCondition(keyword, flags, prefix && isNaivePrefix(keyword));
  const mayEnd = isSymbolic || (prefix && isNaivePrefix(keyword)) ? ALWAYS : rightCondition(keyword, flags);
  return (text) => {
    body.lastIndex = 0;
    for (let found = body.exec(text); found !== null; found = body.exec(text)) {
      const isWhole = !isInsideEmoji(text, found.index) && !isInsideEmoji(text, body.lastIndex);
      if (isWhole && mayBegin(text, found.index) && mayEnd(text, body.lastIndex)) return true;
      body.lastIndex = found.index + ((text.codePointAt(found.index) ?? 0) > 0xffff ? 2 : 1);
    }
    return false;
  };
}
