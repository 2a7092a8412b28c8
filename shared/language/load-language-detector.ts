import { UNDECIDED_LANGUAGE } from '../../schemas/messages/item-languages.ts';
import { detectableText } from './detectable-text.ts';

/** The texts of an item in the order of reading: the title and text of a post, the text of a comment. */
export type LanguageDetector = (texts: readonly string[]) => string;

/** What the library says of a text. */
interface Guesses {
  /** An ISO 639-1 code; empty when no language has a score. */
  language: string;
  /** By language, from 0 to 1. */
  getScores: () => Record<string, number>;
}

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

/** Scripts that one language is written in. The library needs more text for them. */
const SCRIPT_LANGUAGES = [
  { language: 'ko', letter: /\p{Script=Hangul}/gu },
  { language: 'ja', letter: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu },
] as const;
/** At least this share of the letters must be of the script. Japanese has Chinese characters between its own. */
const SCRIPT_SHARE = 1 / 3;

const LETTER = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/gu;
const SYLLABLE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/**
 * Loads the detector: 0.2 s of processor time and 30 MB of memory, so only what needs it calls this, once.
 *
 * The detector returns one of `ITEM_LANGUAGES`, or `und` when the texts are too short or no language is clearly ahead.
 * It takes 0.1 ms for a text of any length.
 */
export async function loadLanguageDetector(): Promise<LanguageDetector> {
  const { eld } = await import('eld/extrasmall');
  return (texts) => {
    const text = detectableText(texts);
    return decide(text, () => eld.detect(text));
  };
}

function decide(text: string, guess: () => Guesses): string {
  const syllables = countOf(text, SYLLABLE);
  const letters = countOf(text, LETTER) + 2 * syllables;
  if (letters < FEWEST_LETTERS) return UNDECIDED_LANGUAGE;
  if (syllables > 0) {
    const own = SCRIPT_LANGUAGES.find(({ letter }) => 3 * countOf(text, letter) >= SCRIPT_SHARE * letters);
    if (own) return own.language;
  }
  const guesses = guess();
  const [best = 0, next = 0] = Object.values(guesses.getScores()).sort((a, b) => b - a);
  const isLatin = 2 * countOf(text, LATIN) >= letters;
  const { lead } = (isLatin && LATIN_LEADS.find(({ below }) => letters < below)) || { lead: LEAD };
  const isClear = best >= LOWEST_SCORE && weightOf(next) <= (1 - lead) * weightOf(best);
  return isClear ? guesses.language : UNDECIDED_LANGUAGE;
}

/** The weight that the library makes a score of: the score is weight / (weight + 25). */
function weightOf(score: number): number {
  return score / (1 - score);
}

function countOf(text: string, letter: RegExp): number {
  return text.match(letter)?.length ?? 0;
}
