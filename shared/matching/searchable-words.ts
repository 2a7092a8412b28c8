import { FoldedText } from './text/folded-text.ts';
import { CHARACTER_TOKEN, HASH_START, hashOf, mix, Tokens, WORD_TOKEN } from './text/tokens.ts';

/**
 * The distinct words of a term and its characters of scripts without spaces, folded as for matching, in its order. A
 * text in which the term occurs has all of them among `wordsOfText`, so an index of those finds every candidate and
 * some others. A word with an elided one (l'IA) is one word: texts have it that were indexed before it was two.
 */
export function searchableWords(term: string): string[] {
  return split(reader.read(term, false));
}

/** The same of a text. It also has the words after elided ones by themselves. */
export function wordsOfText(text: string): string[] {
  return split(spacedWordsOfText(text));
}

/** The same, with a space between them: no word has one. It makes no string of any single word. */
export function spacedWordsOfText(text: string): string {
  return (text.length > LONGEST_KEPT ? new WordReader() : reader).read(text, true);
}

const split = (words: string): string[] => (words === '' ? [] : words.split(' '));

/** In code units. The memory for a longer text, up to 30 bytes a unit, is not kept for the next one. */
const LONGEST_KEPT = 50_000;

const SPACE = 0x20;
/** The size of the table when it is made, and the least of what is cleared; a power of two. */
const FEWEST_SLOTS = 256;

/** Keeps its memory for the next text, as much as the longest one needed. */
class WordReader {
  private readonly folded = new FoldedText();
  private readonly tokens = new Tokens();
  /** A hash table of the words of the present text: the number of a token plus one, or 0. At most half full. */
  private slots = new Int32Array(FEWEST_SLOTS);
  private mask = FEWEST_SLOTS - 1;
  private joined: Uint16Array = new Uint16Array(FEWEST_SLOTS);

  read(text: string, splitsElisions: boolean): string {
    const { folded, tokens } = this;
    folded.fold(text);
    tokens.read(folded.units, 0, folded.length);
    this.clear(tokens.count);
    const starts = tokens.starts.items;
    let length = 0;
    for (let token = 0; token < tokens.count; token++) {
      const kind = tokens.kinds[token];
      if (kind !== WORD_TOKEN && kind !== CHARACTER_TOKEN) continue;
      const first = token;
      const isElided = tokens.isElided(token, folded.units);
      if (isElided && !splitsElisions) token++;
      const end = starts[isElided ? first + 2 : first + 1]!;
      if (!this.add(first, end)) continue;
      for (let unit = starts[first]!; unit < end; unit++) this.joined[length++] = folded.units[unit]!;
      this.joined[length++] = SPACE;
    }
    return Buffer.from(this.joined.buffer, 0, 2 * Math.max(0, length - 1)).toString('utf16le');
  }

  /** Makes room for a text of `count` tokens, each with a space behind it. Those after elided words come twice. */
  private clear(count: number): void {
    let size = FEWEST_SLOTS;
    while (size < 2 * count) size *= 2;
    if (size > this.slots.length) this.slots = new Int32Array(size);
    else this.slots.fill(0, 0, size);
    this.mask = size - 1;
    const units = 2 * this.folded.length + count;
    if (units > this.joined.length) this.joined = new Uint16Array(2 * units);
  }

  /** Returns whether the text had no such word before. Words are compared, because two may have the same hash. */
  private add(token: number, end: number): boolean {
    const { slots, mask, tokens } = this;
    const start = tokens.starts.items[token]!;
    const isWhole = end === tokens.starts.items[token + 1];
    const value = isWhole ? tokens.values.items[token]! : hashOf(this.folded.units, start, end);
    // Compared as a whole where it occurs again.
    tokens.values.items[token] = value;
    // The value of a character is its code point: without the secret a text could be made whose characters collide.
    let slot = mix(value ^ HASH_START) & mask;
    for (let other = slots[slot]!; other !== 0; other = slots[slot]!) {
      if (this.areEqual(token, end, other - 1)) return false;
      slot = (slot + 1) & mask;
    }
    slots[slot] = token + 1;
    return true;
  }

  private areEqual(token: number, end: number, other: number): boolean {
    const { values, starts } = this.tokens;
    if (values.items[token] !== values.items[other]) return false;
    const { units } = this.folded;
    let left = starts.items[token]!;
    let right = starts.items[other]!;
    const last = this.tokens.isElided(other, units) ? other + 2 : other + 1;
    if (end - left !== starts.items[last]! - right) return false;
    for (; left < end; left++, right++) if (units[left] !== units[right]) return false;
    return true;
  }
}

const reader = new WordReader();
