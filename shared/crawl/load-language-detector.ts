import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import { UNDECIDED_LANGUAGE } from '../../schemas/messages/forum-item.ts';

/** The texts of an item in the order of reading: the title and text of a post, the text of a comment. */
export type LanguageDetector = (texts: readonly string[]) => string;

/** Fewer letters are not decided. A character of a script without letters for single sounds counts as three. */
const FEWEST_LETTERS = 10;
/** A lower score of the best language means names, codes or noise. Prose has 0.6 to 0.85, random letters have 0.2. */
const LOWEST_SCORE = 0.55;
/**
 * How much more weight than the next language the best one must have, as a share of its own, for Latin texts of fewer
 * letters than `below`. README.md says how exact it is.
 */
const LATIN_LEADS = [
  { below: 20, lead: 0.25 },
  { below: 45, lead: 0.12 },
] as const;
/** For longer Latin texts, and for other scripts: few languages share one, and most items are English. */
const LEAD = 0.04;

/** A text with this share of letters of Hangul or kana is Korean or Japanese: the library needs more text for them. */
const SCRIPT_SHARE = 1 / 3;

/**
 * Loads the detector: 0.2 s of processor time and 29 MB of memory, so only what needs it calls this, once.
 *
 * The detector returns one of `ITEM_LANGUAGES`, or `und` when the texts are too short or no language is clearly ahead.
 * It takes less than 0.2 ms for a text of any length.
 */
export async function loadLanguageDetector(): Promise<LanguageDetector> {
  const { eld } = await import('eld/extrasmall');
  return (texts) => decide(detectableText(texts), (text) => Object.entries(eld.detect(text).getScores()));
}

/** @param scoresOf the score of each language that has one, from 0 to 1, the highest first */
function decide(text: string, scoresOf: (text: string) => [string, number][]): string {
  const syllables = countOf(text, SYLLABLE);
  const letters = countOf(text, LETTER) + 2 * syllables;
  if (letters < FEWEST_LETTERS) return UNDECIDED_LANGUAGE;
  if (syllables > 0 && 3 * countOf(text, HANGUL) >= SCRIPT_SHARE * letters) return 'ko';
  if (syllables > 0 && 3 * countOf(text, KANA) >= SCRIPT_SHARE * letters) return 'ja';
  const [[language, best] = [UNDECIDED_LANGUAGE, 0], [, next] = ['', 0]] = scoresOf(text);
  const isLatin = 2 * countOf(text, LATIN) >= letters;
  const { lead } = (isLatin && LATIN_LEADS.find(({ below }) => letters < below)) || { lead: LEAD };
  const isClear = best >= LOWEST_SCORE && weightOf(next) <= (1 - lead) * weightOf(best);
  return isClear ? language : UNDECIDED_LANGUAGE;
}

/** The weight that the library makes a score of: the score is weight / (weight + 25). */
function weightOf(score: number): number {
  return score / (1 - score);
}

/**
 * The item with its language: that of a post's title and text, or of a comment's text.
 *
 * @param onFailure receives what the detector throws; the item then has the language `und`
 */
export function withLanguage(
  item: ForumItem,
  detectLanguage: LanguageDetector,
  onFailure: (error: unknown) => void,
): ForumItem {
  try {
    return { ...item, language: detectLanguage(item.kind === 'post' ? [item.title, item.body] : [item.body]) };
  } catch (error) {
    onFailure(error);
    return { ...item, language: UNDECIDED_LANGUAGE };
  }
}

/** The detector reads about 350 bytes; this leaves room for what it skips. */
const ENOUGH = 600;
/** A longer line is cut, so that the time per item is bounded. */
const LONGEST_LINE = 2_000;

const FENCE = /^ {0,3}(?:```|~~~)/;
/** A line of code, which is indented, or a quotation. */
const CODE_OR_QUOTE = /^(?: {4}|\t| {0,3}(?:>|&gt;))/;
const INLINE_CODE = /`[^`]*`/g;
const ADDRESS = /\b(?:https?:\/\/|www\.)[^\s)\]]+/gi;
/** Begins the addresses without a slash. */
const WWW = /www\./i;
/** Names of communities and accounts: r/…, /u/… */
const FORUM_NAME = /(?<![\p{L}\p{N}])\/?[ru]\/[\p{L}\p{N}_-]+/gu;
/** Words with a digit, an underscore or an @, such as versions, identifiers and e-mail addresses. */
const WORD = /[^\s.,;:!?()[\]"]+/g;
const NOT_PROSE = /[\p{N}_@]/u;

/**
 * The prose at the beginning of Markdown texts, without code, quotations, addresses and names of the forum: they would
 * be taken for the writer's language. Takes time in proportion to the texts, of which it reads no more than it needs.
 */
export function detectableText(texts: readonly string[]): string {
  let prose = '';
  for (const text of texts) {
    let isCode = false;
    for (let start = 0; start < text.length && prose.length < ENOUGH;) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? text.length : newline;
      const line = text.slice(start, Math.min(end, start + LONGEST_LINE));
      start = end + 1;
      if (FENCE.test(line)) isCode = !isCode;
      else if (!isCode && !CODE_OR_QUOTE.test(line)) prose += ` ${proseOf(line)}`;
    }
  }
  return prose.trim();
}

function proseOf(line: string): string {
  let prose = line;
  // Most lines have none of these, and looking for a character takes far less time than looking for an expression.
  if (line.includes('`')) prose = prose.replace(INLINE_CODE, ' ');
  const hasSlash = line.includes('/');
  if (hasSlash || WWW.test(line)) prose = prose.replace(ADDRESS, ' ');
  if (hasSlash) prose = prose.replace(FORUM_NAME, ' ');
  // Most lines have no such word, and looking at each word takes longer than all the rest.
  return NOT_PROSE.test(prose) ? prose.replace(WORD, (word) => (NOT_PROSE.test(word) ? ' ' : word)) : prose;
}

const LETTER = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/gu;
const HANGUL = /\p{Script=Hangul}/gu;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/gu;
/** Characters of scripts without letters for single sounds. */
const SYLLABLE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

const countOf = (text: string, characters: RegExp): number => text.match(characters)?.length ?? 0;
