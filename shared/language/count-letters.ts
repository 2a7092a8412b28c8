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

const IS_LETTER = 1;
const IS_LATIN = 2;
const IS_HANGUL = 4;
const IS_KANA = 8;
const IS_SYLLABLE = 16;
const IS_KNOWN = 32;
/** What each character of the basic plane is, once a text had it: five expressions take a microsecond. */
const known = new Uint8Array(0x10000);

/** Counts the letters of a text by script. */
export function countLetters(text: string): LetterCounts {
  const counts: LetterCounts = { letters: 0, latin: 0, hangul: 0, kana: 0, syllables: 0 };
  let ascii = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < FIRST_BEYOND_ASCII) {
      const lower = unit | TO_LOWER;
      if (lower >= A && lower <= Z) ascii += 1;
    } else {
      const codePoint = text.codePointAt(at)!;
      if (codePoint > 0xffff) at += 1;
      addTo(counts, classOf(codePoint));
    }
  }
  counts.letters += ascii;
  counts.latin += ascii;
  return counts;
}

function addTo(counts: LetterCounts, letterClass: number): void {
  if (letterClass & IS_LETTER) counts.letters += 1;
  if (letterClass & IS_LATIN) counts.latin += 1;
  if (letterClass & IS_HANGUL) counts.hangul += 1;
  if (letterClass & IS_KANA) counts.kana += 1;
  if (letterClass & IS_SYLLABLE) counts.syllables += 1;
}

function classOf(codePoint: number): number {
  if (codePoint > 0xffff) return classify(codePoint);
  if (known[codePoint] === 0) known[codePoint] = classify(codePoint);
  return known[codePoint]!;
}

function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  let letterClass = IS_KNOWN;
  if (LETTER.test(character)) letterClass |= IS_LETTER;
  if (LATIN.test(character)) letterClass |= IS_LATIN;
  if (codePoint < FIRST_EAST_ASIAN) return letterClass;
  if (HANGUL.test(character)) letterClass |= IS_HANGUL | IS_SYLLABLE;
  if (KANA.test(character)) letterClass |= IS_KANA | IS_SYLLABLE;
  if (HAN.test(character)) letterClass |= IS_SYLLABLE;
  return letterClass;
}
