/** How many characters of a text are letters, and of which scripts. */
export interface LetterCounts {
  letters: number;
  latin: number;
  hangul: number;
  /** Hiragana and Katakana. */
  kana: number;
  /** Characters of scripts without letters for single sounds: Chinese characters, Hangul and kana. */
  syllables: number;
}

const LETTER = /\p{L}/u;
const LATIN = /\p{Script=Latin}/u;
const HANGUL = /\p{Script=Hangul}/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HAN = /\p{Script=Han}/u;
const FIRST_BEYOND_ASCII = 0x80;
/** Characters below are of none of the East Asian scripts. */
const FIRST_EAST_ASIAN = 0x1100;
const TO_LOWER = 0x20;
const A = 0x61;
const Z = 0x7a;

/** Counts the letters of a text by script. */
export function countLetters(text: string): LetterCounts {
  const counts: LetterCounts = { letters: 0, latin: 0, hangul: 0, kana: 0, syllables: 0 };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < FIRST_BEYOND_ASCII) {
      const lower = unit | TO_LOWER;
      if (lower < A || lower > Z) continue;
      counts.letters += 1;
      counts.latin += 1;
    } else {
      const character = String.fromCodePoint(text.codePointAt(at)!);
      at += character.length - 1;
      countCharacter(counts, character, unit);
    }
  }
  return counts;
}

function countCharacter(counts: LetterCounts, character: string, unit: number): void {
  if (LETTER.test(character)) counts.letters += 1;
  if (LATIN.test(character)) counts.latin += 1;
  if (unit < FIRST_EAST_ASIAN) return;
  const isHangul = HANGUL.test(character);
  const isKana = KANA.test(character);
  if (isHangul) counts.hangul += 1;
  if (isKana) counts.kana += 1;
  if (isHangul || isKana || HAN.test(character)) counts.syllables += 1;
}
