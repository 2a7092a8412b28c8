import { UNDECIDED_LANGUAGE } from '../../schemas/messages/item-languages.ts';
import { countLetters } from './count-letters.ts';
import { detectableText } from './detectable-text.ts';

/** The texts of an item in the order of reading: the title and text of a post, the text of a comment. */
export type LanguageDetector = (texts: readonly string[]) => string;

/** Fewer letters are not decided. A character of a script without letters for single sounds counts as three. */
const FEWEST_LETTERS = 10;
/** A lower score of the best language means names, codes or noise. Prose has 0.6 to 0.85, random letters have 0.2. */
const LOWEST_SCORE = 0.55;
/**
 * How much more weight than the next language the best one must have, as a share of its own, for Latin texts of fewer
 * letters than `below`. The README has the measurement.
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
  const { letters: characters, latin, hangul, kana, syllables } = countLetters(text);
  const letters = characters + 2 * syllables;
  if (letters < FEWEST_LETTERS) return UNDECIDED_LANGUAGE;
  if (3 * hangul >= SCRIPT_SHARE * letters) return 'ko';
  if (3 * kana >= SCRIPT_SHARE * letters) return 'ja';
  const [[language, best] = [UNDECIDED_LANGUAGE, 0], [, next] = ['', 0]] = scoresOf(text);
  const isLatin = 2 * latin >= letters;
  const { lead } = (isLatin && LATIN_LEADS.find(({ below }) => letters < below)) || { lead: LEAD };
  const isClear = best >= LOWEST_SCORE && weightOf(next) <= (1 - lead) * weightOf(best);
  return isClear ? language : UNDECIDED_LANGUAGE;
}

/** The weight that the library makes a score of: the score is weight / (weight + 25). */
function weightOf(score: number): number {
  return score / (1 - score);
}
