import type { TextReader } from '../text/text-reader.ts';
import { FNV_PRIME, HASH_START, MIN_PREFIX_LENGTH, mix, WORD_TOKEN } from '../text/tokens.ts';
import { postings, setPostings } from './found-terms.ts';
import type { FoundTerms } from './found-terms.ts';
import type { IntHeap } from './int-list.ts';
import { IN_CASED_TERM, IS_TERM, KEY_OF_CASED_TERM, WordTable } from './word-table.ts';

/** The code units of a stem. */
const STEM_LENGTH = MIN_PREFIX_LENGTH;
/** In the lengths of a stem, the bit for all lengths from here on. */
const LONG = 31;

/**
 * Finds words that begin with a term. The hash of each beginning of a word is a by-product of hashing the word, so a
 * word costs one look-up for its first three code units (its stem), and one for each length that a prefix with this
 * stem has.
 */
export class PrefixTerms {
  readonly #heap: IntHeap;
  readonly #prefixes: WordTable;
  /** The first integer of a stem's term holds the lengths of its prefixes, a bit for each. They are never removed. */
  readonly #stems: WordTable;
  /** In code units. Never decreases. */
  #longest = STEM_LENGTH;
  #size = 0;

  constructor(heap: IntHeap) {
    this.#heap = heap;
    this.#prefixes = new WordTable(heap);
    this.#stems = new WordTable(heap);
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** The term that is the prefix that the reader has read. It is created if it does not exist. */
  findOrAdd(reader: TextReader): number {
    const prefix = this.#findOrAddWord(reader);
    this.#prefixes.addRole(prefix, IS_TERM);
    return this.#prefixes.term(prefix);
  }

  /** Must be called when no rule references the term any more. */
  remove(reader: TextReader): void {
    const prefix = this.#findWord(reader);
    this.#prefixes.removeTerm(prefix);
    this.#removeUnused(reader, prefix);
  }

  /** Makes texts that have a word with this prefix be searched for terms whose letters are as written. */
  watch(reader: TextReader): void {
    const prefix = this.#findOrAddWord(reader);
    this.#prefixes.addRole(prefix, IN_CASED_TERM);
    this.#prefixes.addUses(prefix, 1);
  }

  unwatch(reader: TextReader): void {
    const prefix = this.#findWord(reader);
    this.#prefixes.addUses(prefix, -1);
    this.#removeUnused(reader, prefix);
  }

  /**
   * Reports every term that is a prefix of a word of the text. An occurrence is the whole word. A prefix may begin with
   * an elided word (d'art): then both words count as one.
   */
  search(reader: TextReader, text: number, found: FoundTerms): void {
    const { count, kinds, starts } = reader.tokens;
    const { units } = reader;
    for (let token = 0; token < count; token++) {
      if (kinds[token] !== WORD_TOKEN) continue;
      const start = starts.items[token] ?? 0;
      const end = starts.items[nextOf(reader, token)] ?? 0;
      if (end - start < STEM_LENGTH) continue;
      reader.steps++;
      const hash = stemHash(units, start);
      const stem = this.#stems.find(mix(hash), units, start, start + STEM_LENGTH);
      if (stem !== 0) this.#searchWord(reader, token, text, found, hash, stem);
    }
  }

  #searchWord(reader: TextReader, token: number, text: number, found: FoundTerms, hash: number, stem: number): void {
    const { units } = reader;
    const start = reader.tokens.starts.items[token] ?? 0;
    const end = Math.min(reader.tokens.starts.items[nextOf(reader, token)] ?? 0, start + this.#longest);
    const lengths = postings(this.#heap, this.#stems.term(stem));
    for (let offset = start + STEM_LENGTH; ; offset++) {
      const length = offset - start;
      if (((lengths >>> Math.min(length, LONG)) & 1) === 1) {
        const prefix = this.#prefixes.find(mix(hash), units, start, offset);
        // The comparison of a known prefix reads four code units at a time.
        reader.steps += prefix === 0 ? 1 : 1 + (length >> 2);
        if (prefix !== 0) this.#found(reader, prefix, token, text, found);
      }
      if (offset === end) return;
      hash = hashUnit(hash, units[offset] ?? 0);
    }
  }

  #found(reader: TextReader, prefix: number, token: number, text: number, found: FoundTerms): void {
    const roles = this.#prefixes.foundRoles;
    if ((roles & IS_TERM) !== 0) reader.report(found, this.#prefixes.term(prefix), text, token, nextOf(reader, token));
    if ((roles & IN_CASED_TERM) === 0) return;
    reader.roles.items[token] = (reader.roles.items[token] ?? 0) | IN_CASED_TERM;
    reader.allRoles |= KEY_OF_CASED_TERM;
  }

  #findWord(reader: TextReader): number {
    const { values, starts } = reader.tokens;
    return this.#prefixes.find(values.items[0] ?? 0, reader.units, starts.items[0] ?? 0, starts.items[1] ?? 0);
  }

  #findOrAddWord(reader: TextReader): number {
    const found = this.#findWord(reader);
    if (found !== 0) return found;
    const { units } = reader;
    const start = reader.tokens.starts.items[0] ?? 0;
    const end = reader.tokens.starts.items[1] ?? 0;
    const hash = mix(stemHash(units, start));
    let stem = this.#stems.find(hash, units, start, start + STEM_LENGTH);
    if (stem === 0) stem = this.#stems.add(hash, units, start, start + STEM_LENGTH);
    this.#stems.addUses(stem, 1);
    const lengths = this.#stems.term(stem);
    setPostings(this.#heap, lengths, postings(this.#heap, lengths) | (1 << Math.min(end - start, LONG)));
    this.#longest = Math.max(this.#longest, end - start);
    this.#size++;
    return this.#prefixes.add(reader.tokens.values.items[0] ?? 0, units, start, end);
  }

  /** Removes the prefix that the reader has read if nothing uses it any more. */
  #removeUnused(reader: TextReader, prefix: number): void {
    if (!this.#prefixes.removeUnused(reader.tokens.values.items[0] ?? 0, prefix)) return;
    this.#size--;
    const { units } = reader;
    const start = reader.tokens.starts.items[0] ?? 0;
    const hash = mix(stemHash(units, start));
    const stem = this.#stems.find(hash, units, start, start + STEM_LENGTH);
    this.#stems.addUses(stem, -1);
    this.#stems.removeUnused(hash, stem);
  }
}

/** The token after a word, or after the word to which an elided one belongs. */
function nextOf({ tokens, units }: TextReader, token: number): number {
  return tokens.isElided(token, units) ? token + 2 : token + 1;
}

function hashUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, FNV_PRIME);
}

function stemHash(units: Uint16Array, start: number): number {
  let hash = HASH_START;
  for (let offset = start; offset < start + STEM_LENGTH; offset++) hash = hashUnit(hash, units[offset] ?? 0);
  return hash;
}
