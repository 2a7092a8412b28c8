import { postings, setPostings } from './terms/found-terms.ts';
import { Hits } from './terms/hits.ts';
import { IntHeap } from './tables/int-heap.ts';
import { blockingFilter, filteredItem, filterOf, NAMES_SUBREDDITS } from './item-filter.ts';
import type { FilteredItem } from './item-filter.ts';
import { FIELDS, forEachText } from './text/item-texts.ts';
import { PackedStrings } from './tables/packed-strings.ts';
import type { MatchItem, MatchPosition, Rule } from './rule.ts';
import { TermIndex } from './terms/term-index.ts';

export interface MonitorMatchResult<P = undefined> {
  monitorId: string;
  /** The keywords that were found, as written, in the monitor's order, each once. Never empty. */
  matchedTerms: string[];
  /** The first occurrence of each matched term, in the same order. */
  positions: MatchPosition[];
  /** The payload that was passed to `set` with the rule that matched. */
  payload: P;
}

/** A monitor's record: these integers, then a posting for each keyword, then the term of each exclude. */
const OWNER = 0;
const HITS = 1;
const FILTER = 2;
/** The address of its terms as written: the keywords, then the excluded terms. */
const WRITTEN = 3;
const KEYWORDS = 4;
const EXCLUDES = 5;
const TERMS = 6;

/**
 * A posting is a node in the doubly linked list of the monitors that watch for a term. The PREVIOUS of the first
 * posting is the negative address of the term.
 */
const NEXT = 0;
const PREVIOUS = 1;
const MONITOR = 2;
const POSTING = 3;

interface AcquiredTerms {
  readonly written: string[];
  readonly terms: number[];
}

/**
 * Matches one item at a time against any number of monitors. The cost of an item grows with its length and with the
 * number of monitors that watch for a term in it, not with the number of all monitors. Changes are in place and take
 * effect with the next item; the cost of a change grows with the length of the rule.
 */
export class MonitorIndex<P = undefined> {
  readonly #terms = new TermIndex();
  readonly #heap = this.#terms.heap;
  readonly #texts = new IntHeap();
  readonly #written = new PackedStrings(this.#texts);
  /** The record of each monitor. */
  readonly #records = new Map<string, number>();
  /** Properties that are not integers, by the monitor's number, which is the OWNER of its record. */
  readonly #ids: string[] = [];
  readonly #payloads: (P | undefined)[] = [];
  readonly #subreddits = new Map<number, ReadonlySet<string>>();
  readonly #freeOwners: number[] = [];
  readonly #hits = new Hits(this.#heap, HITS);
  #steps = 0;

  get size(): number {
    return this.#records.size;
  }

  /** The bytes of all tables, without ids, payloads and the terms as written. */
  get bytes(): number {
    return this.#terms.bytes;
  }

  /** The bytes of the terms as written. */
  get textBytes(): number {
    return this.#texts.bytes;
  }

  /** The steps of the last `match` or `forEachMatch`: code units read, and probes, nodes and postings visited. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Adds a monitor, or replaces the one with this id. Ignores terms that have nothing to search for, and terms that
   * equal an earlier term of the list after folding; `validateTerms` rejects the former and merges the latter.
   */
  set(id: string, rule: Rule, ...[payload]: undefined extends P ? [payload?: P] : [payload: P]): void {
    // Acquire before discarding the old rule, so that terms in both rules are never removed in between.
    const keywords = this.#acquire(rule.keywords);
    const exclude = this.#acquire(rule.exclude);
    const previous = this.#records.get(id);
    if (previous !== undefined) this.#discard(previous);
    const owner = this.#freeOwners.pop() ?? this.#ids.length;
    const record = this.#createRecord(owner, keywords.terms, exclude.terms);
    const { bits, subreddits } = filterOf(rule);
    this.#heap.set(record + FILTER, bits);
    this.#heap.set(record + WRITTEN, this.#written.add([...keywords.written, ...exclude.written]));
    this.#ids[owner] = id;
    this.#payloads[owner] = payload;
    if (subreddits !== undefined) this.#subreddits.set(owner, subreddits);
    this.#records.set(id, record);
  }

  /** The payload that was passed to `set`, or undefined if the id is unknown. */
  get(id: string): P | undefined {
    const record = this.#records.get(id);
    return record === undefined ? undefined : this.#payloads[this.#heap.get(record + OWNER)];
  }

  /** All ids. Monitors may be added and removed during the iteration. */
  ids(): Iterable<string> {
    return this.#records.keys();
  }

  /** Removes a monitor. Ignores an unknown id. */
  remove(id: string): void {
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#records.delete(id);
    this.#discard(record);
  }

  #discard(record: number): void {
    const heap = this.#heap;
    const owner = heap.get(record + OWNER);
    this.#ids[owner] = '';
    this.#payloads[owner] = undefined;
    this.#subreddits.delete(owner);
    this.#freeOwners.push(owner);
    const keywords = heap.get(record + KEYWORDS);
    for (let index = 0; index < keywords; index++) this.#unlink(record + TERMS + POSTING * index);
    const written = heap.get(record + WRITTEN);
    for (const term of this.#written.all(written)) this.#terms.release(term);
    this.#written.remove(written);
    heap.free(record, TERMS + POSTING * keywords + heap.get(record + EXCLUDES));
  }

  /** All monitors that match, in no particular order. Accepts any UTF-16, also lone surrogates; never throws. */
  match(item: MatchItem): MonitorMatchResult<P>[] {
    const results: MonitorMatchResult<P>[] = [];
    this.#forEach(item, true, (record, hit) => {
      results.push(this.#resultOf(record, hit));
    });
    return results;
  }

  /** Like `match`, but without terms, which is cheaper. `visit` must not change the index or match with it. */
  forEachMatch(item: MatchItem, visit: (monitorId: string, payload: P) => void): void {
    this.#forEach(item, false, (record) => {
      const owner = this.#heap.get(record + OWNER);
      visit(this.#ids[owner] ?? '', this.#payloads[owner] as P);
    });
  }

  #forEach(item: MatchItem, withTerms: boolean, visit: (record: number, hit: number) => void): void {
    this.#terms.begin();
    forEachText(item, (text, field) => {
      this.#terms.search(text, field);
    });
    this.#steps = this.#terms.steps;
    this.#collectHits(withTerms);
    const { records } = this.#hits;
    if (records.length === 0) return;
    const filtered = filteredItem(item);
    for (let hit = 0; hit < records.length; hit++) {
      const record = records.items[hit] ?? 0;
      if (this.#passesFilter(record, filtered) && !this.#isExcluded(record)) visit(record, hit);
    }
  }

  #passesFilter(record: number, item: FilteredItem): boolean {
    const bits = this.#heap.get(record + FILTER);
    const subreddits =
      (bits & NAMES_SUBREDDITS) === 0 ? undefined : this.#subreddits.get(this.#heap.get(record + OWNER));
    return blockingFilter(bits, subreddits, item) === undefined;
  }

  #collectHits(withTerms: boolean): void {
    const heap = this.#heap;
    const { terms } = this.#terms.found;
    this.#hits.clear();
    for (let index = 0; index < terms.length; index++) {
      for (let posting = postings(heap, terms.items[index] ?? 0); posting !== 0; posting = heap.get(posting + NEXT)) {
        this.#steps++;
        if (withTerms) this.#hits.add(heap.get(posting + MONITOR), posting, index);
        else this.#hits.touch(heap.get(posting + MONITOR));
      }
    }
  }

  #isExcluded(record: number): boolean {
    const heap = this.#heap;
    const first = record + TERMS + POSTING * heap.get(record + KEYWORDS);
    const end = first + heap.get(record + EXCLUDES);
    for (let address = first; address < end; address++) {
      this.#steps++;
      if (this.#terms.found.has(heap.get(address))) return true;
    }
    return false;
  }

  #resultOf(record: number, hit: number): MonitorMatchResult<P> {
    const heap = this.#heap;
    const { fields, starts, ends } = this.#terms.found;
    const matchedTerms: string[] = [];
    const positions: MatchPosition[] = [];
    for (const { posting, found } of this.#hits.of(hit)) {
      matchedTerms.push(this.#written.get(heap.get(record + WRITTEN), (posting - record - TERMS) / POSTING));
      const field = FIELDS[fields.items[found] ?? 0] ?? 'text';
      positions.push({ field, start: starts.items[found] ?? 0, end: ends.items[found] ?? 0 });
    }
    const owner = heap.get(record + OWNER);
    return { monitorId: this.#ids[owner] ?? '', matchedTerms, positions, payload: this.#payloads[owner] as P };
  }

  #acquire(written: readonly string[]): AcquiredTerms {
    const acquired: AcquiredTerms = { written: [], terms: [] };
    for (const text of written) {
      const term = this.#terms.acquire(text);
      if (term === 0) continue;
      if (acquired.terms.includes(term)) this.#terms.release(text);
      else {
        acquired.written.push(text);
        acquired.terms.push(term);
      }
    }
    return acquired;
  }

  #createRecord(owner: number, keywords: readonly number[], exclude: readonly number[]): number {
    const heap = this.#heap;
    const record = heap.allocate(TERMS + POSTING * keywords.length + exclude.length);
    heap.set(record + OWNER, owner);
    heap.set(record + KEYWORDS, keywords.length);
    heap.set(record + EXCLUDES, exclude.length);
    let address = record + TERMS;
    for (const term of keywords) {
      this.#link(address, record, term);
      address += POSTING;
    }
    for (const term of exclude) heap.set(address++, term);
    return record;
  }

  #link(posting: number, record: number, term: number): void {
    const heap = this.#heap;
    const next = postings(heap, term);
    heap.set(posting + NEXT, next);
    heap.set(posting + PREVIOUS, -term);
    heap.set(posting + MONITOR, record);
    if (next !== 0) heap.set(next + PREVIOUS, posting);
    setPostings(heap, term, posting);
  }

  #unlink(posting: number): void {
    const heap = this.#heap;
    const next = heap.get(posting + NEXT);
    const previous = heap.get(posting + PREVIOUS);
    if (previous < 0) setPostings(heap, -previous, next);
    else heap.set(previous + NEXT, next);
    if (next !== 0) heap.set(next + PREVIOUS, previous);
  }
}
