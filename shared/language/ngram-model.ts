import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { NumberSet, NumberTable } from '../cache/number-tables.ts';

/** Which languages the n-grams of a text speak for. Scores are from 0 to 1, and 0 where there is none. */
export interface Guess {
  /** An ISO 639-1 code; undefined when no language has a score. */
  language: string | undefined;
  /** Of the language. */
  best: number;
  /** Of the language with the second best score. */
  next: number;
}

/** The library's files that its public interface does not give out. */
interface LibraryData {
  languages: Readonly<Record<number, string>>;
  /** By n-gram: by the number of a language its weight, less `BASE_WEIGHT`. */
  ngrams: Readonly<Record<string, Readonly<Record<number, number>>>>;
  /** By byte the character that stands for it in `ngrams`: a space for many that no language of the model uses. */
  dictionary: readonly string[];
  /** What is between words. */
  separators: RegExp;
}

const BASE_WEIGHT = 53;
/** A mean weight of this much is a score of one half. */
const SCALE = 25;
const SPACE = 32;
/** A text is cut at the first space from this byte on, or behind the character that reaches `LONGEST_TEXT`. */
const LONG_TEXT = 351;
const LONGEST_TEXT = 381;
const LONGEST_WORD = 70;
const NGRAM = 4;
/** How much of a text is looked at. */
const LONGEST_READ = 1_000;
const FIRST_BEYOND_ASCII = 0x80;
const TO_LOWER = 0x20;
const A = 0x61;
const Z = 0x7a;
const APOSTROPHE = 0x27;
const GRAVE = 0x60;
const STRIDE = 3;

/**
 * The decision of [eld](https://github.com/nitotm/efficient-language-detector-js) 2.1.0 (model `extrasmall`, Apache
 * License 2.0) with the same scores, computed with numbers from a flat table: a tenth of the library's time, and a
 * fraction of its memory. `ngram-model.test.ts` compares both.
 *
 * An n-gram is four bytes of a word, every third byte, with the space before the word's first and behind its last. A
 * language's score is the mean of its weights over the different n-grams of the text.
 */
export class NgramModel {
  private readonly languages: readonly string[];
  private readonly separators: RegExp;
  /** By n-gram, as the number that its bytes are: where in `weights` its entry begins. */
  private readonly positions: NumberTable;
  /** Entries: how many languages have the n-gram, then the number of each and its weight. */
  private readonly weights: Uint16Array;
  private readonly encoder = new TextEncoder();
  private readonly bytes = new Uint8Array(512);
  /** By byte what stands for it in n-grams: the byte, or a space also within words. */
  private readonly symbols: Uint8Array;
  /** The different n-grams of the present text; at most one begins at each byte. */
  private readonly seen = new NumberSet(512);
  /** Those that are longer than any language's. */
  private readonly seenRests = new Set<string>();
  private readonly sums: Float64Array;

  constructor({ languages, ngrams, dictionary, separators }: LibraryData) {
    this.languages = Object.values(languages);
    this.separators = separators;
    this.sums = new Float64Array(this.languages.length);
    const byteOf = new Map(dictionary.map((character, byte) => [character, byte]));
    byteOf.set(' ', SPACE);
    this.symbols = Uint8Array.from(dictionary, (character, byte) => (character === ' ' ? SPACE : byte));
    const weights: number[] = [];
    const all = Object.entries(ngrams);
    this.positions = new NumberTable(all.length);
    for (const [ngram, ofLanguages] of all) {
      const key = Array.from(ngram).reduce((number, character) => number * 256 + byteOf.get(character)!, 0);
      this.positions.set(key, weights.length);
      const entries = Object.entries(ofLanguages);
      weights.push(entries.length);
      for (const [language, weight] of entries) weights.push(Number(language), weight + BASE_WEIGHT);
    }
    this.weights = Uint16Array.from(weights);
  }

  /** Reads about the first 350 bytes of the text. */
  guess(text: string): Guess {
    this.seen.clear();
    this.seenRests.clear();
    this.sums.fill(0);
    const length = this.encode(text);
    let start = 0;
    for (let end = 0; end <= length; end += 1) {
      if (end < length && this.bytes[end] !== SPACE) continue;
      if (end > start) this.addWord(start, end);
      start = end + 1;
    }
    return this.bestOf();
  }

  /** Writes the words in lower case, with one space between them, into `bytes`, and returns how many bytes count. */
  private encode(text: string): number {
    const written = this.encodeAscii(text) ?? this.encodeAny(text);
    for (let at = LONG_TEXT; at < Math.min(written, LONGEST_TEXT); at += 1) if (this.bytes[at] === SPACE) return at;
    let end = LONGEST_TEXT;
    // The other bytes of a character.
    while (end < written && (this.bytes[end]! & 0xc0) === 0x80) end += 1;
    return Math.min(end, written);
  }

  private encodeAny(text: string): number {
    const words = text.slice(0, LONGEST_READ).replace(this.separators, ' ').trim().toLowerCase();
    return this.encoder.encodeInto(words, this.bytes).written;
  }

  /**
   * The same for a text of ASCII alone, as far as it counts. What is between words becomes one space; apostrophes
   * behind it, or alone between letters, belong to words. Undefined: there is another character.
   */
  private encodeAscii(text: string): number | undefined {
    const { bytes } = this;
    const length = Math.min(text.length, LONGEST_READ);
    let written = 0;
    let endOfWord = 0;
    for (let at = 0; at < length; at += 1) {
      const unit = text.charCodeAt(at);
      const lower = unit | TO_LOWER;
      if (unit >= FIRST_BEYOND_ASCII) return undefined;
      if (lower >= A && lower <= Z) {
        if (written > LONGEST_TEXT) return written;
        bytes[written++] = lower;
        endOfWord = written;
      } else if (unit === APOSTROPHE || unit === GRAVE) {
        bytes[written++] = unit;
      } else {
        written = endOfWord;
        if (endOfWord > 0) bytes[written++] = SPACE;
      }
    }
    return written > 0 && bytes[written - 1] === SPACE ? written - 1 : written;
  }

  private addWord(start: number, end: number): void {
    const length = Math.min(end - start, LONGEST_WORD);
    let from = 0;
    for (; from + NGRAM < length; from += STRIDE) this.add(this.keyOf(start + from, NGRAM, from === 0));
    const last = start + Math.max(0, length - NGRAM);
    // The library takes all the rest of a word that is too long; no language has such an n-gram.
    if (end - last > NGRAM) {
      const rest = this.bytes.subarray(last, end).map((byte) => this.symbols[byte]!);
      this.seenRests.add(String.fromCharCode(...rest));
    } else this.add(this.keyOf(last, end - last, from === 0) * 256 + SPACE);
  }

  private keyOf(start: number, length: number, isFirst: boolean): number {
    let key = isFirst ? SPACE : 0;
    for (let at = start; at < start + length; at += 1) key = key * 256 + this.symbols[this.bytes[at]!]!;
    return key;
  }

  private add(key: number): void {
    if (!this.seen.add(key)) return;
    const position = this.positions.get(key);
    if (position === undefined) return;
    const end = position + 2 * this.weights[position]!;
    for (let at = position + 1; at < end; at += 2) this.sums[this.weights[at]!]! += this.weights[at + 1]!;
  }

  private bestOf(): Guess {
    let best = 0;
    let next = 0;
    let language: string | undefined;
    for (let number = 0; number < this.sums.length; number += 1) {
      const sum = this.sums[number]!;
      if (sum > best) {
        next = best;
        best = sum;
        language = this.languages[number];
      } else if (sum > next) {
        next = sum;
      }
    }
    const different = this.seen.size + this.seenRests.size;
    return { language, best: scoreOf(best, different), next: scoreOf(next, different) };
  }
}

function scoreOf(sum: number, ngrams: number): number {
  if (sum === 0) return 0;
  const mean = sum / ngrams;
  return mean / (mean + SCALE);
}

/** Takes 0.2 s of processor time. What it reads is garbage afterwards, 25 MB of it. */
export async function loadNgramModel(): Promise<NgramModel> {
  const source = join(dirname(findPackageJSON('eld', import.meta.url)!), 'src');
  const load = (file: string): Promise<object> => import(pathToFileURL(join(source, file)).href) as Promise<object>;
  const { separators } = (await load('regexPatterns.js')) as Pick<LibraryData, 'separators'>;
  const { dictionary } = (await load('dictionary.js')) as Pick<LibraryData, 'dictionary'>;
  // An imported module would stay in memory.
  const table = await readFile(join(source, 'ngrams', 'extrasmall.js'), 'utf8');
  const script = table.replace('export const ngramsData =', 'ngramsData =');
  const data = runInNewContext(script) as Pick<LibraryData, 'languages' | 'ngrams'>;
  return new NgramModel({ ...data, dictionary, separators });
}
