import { postings, setPostings } from './terms/found-terms.ts';
import { Hits } from './terms/hits.ts';
import { IntHeap } from './tables/int-heap.ts';
import { blockingFilter, filteredItem, filterOf, WITHIN } from './item-filter.ts';
import type { FilteredItem } from './item-filter.ts';
import { FIELDS, forEachText } from './text/item-texts.ts';
import { PackedStrings } from './tables/packed-strings.ts';
import type { MatchItem, MatchPosition, Rule } from './rule.ts';
import { TermIndex } from './terms/term-index.ts';

export interface MonitorMatchResult<P = undefined> {
  monitorId: string;
  /** The keywords found, as the owner wrote them, in the monitor's order, each once. Never empty. */
  matchedTerms: string[];
  /** Where each of them occurs first, in the same order. */
  positions: MatchPosition[];
  /** What was given to `set` with the rule that matched. */
  payload: P;
}

/** A monitor's record: these, then a posting for each keyword, then the term of each exclude. */
const OWNER = 0;
const HITS = 1;
const FILTER = 2;
/** What its terms are, as they were written: the keywords, then the excluded ones. */
const WRITTEN = 3;
const KEYWORDS = 4;
const EXCLUDES = 5;
const TERMS = 6;

/**
 * A posting: the monitor among those that watch for a term, in a list linked both ways. Before the first one is the
 * term itself, its address less than 0.
 */
const NEXT = 0;
const PREVIOUS = 1;
const MONITOR = 2;
const POSTING = 3;

interface HeldTerms {
  readonly written: string[];
  readonly terms: number[];
}

/**
 * Any number of monitors, matched against one item at a time. The cost of an item grows with its length and with the
 * monitors that watch a term which occurs in it, not with the number of monitors. A change is in place and counts from
 * the next item on; it costs as much as the rule is long.
 */
export class MonitorIndex<P = undefined> {
  readonly #terms = new TermIndex();
  readonly #heap = this.#terms.heap;
  readonly #texts = new IntHeap();
  readonly #written = new PackedStrings(this.#texts);
  /** The record of each monitor. */
  readonly #records = new Map<string, number>();
  /** What cannot be said in integers, by the monitor's number, which its record has. */
  readonly #ids: string[] = [];
  readonly #payloads: (P | undefined)[] = [];
  readonly #subreddits = new Map<number, ReadonlySet<string>>();
  readonly #freeOwners: number[] = [];
  readonly #hits = new Hits(this.#heap, HITS);
  #steps = 0;

  get size(): number {
    return this.#records.size;
  }

  /** The bytes of all tables. Ids, payloads and the terms as they were written come on top. */
  get bytes(): number {
    return this.#terms.bytes;
  }

  /** The bytes of the terms as they were written. */
  get textBytes(): number {
    return this.#texts.bytes;
  }

  /** The steps of work of the last `match` or `forEachMatch`: code units read, probes, nodes and postings visited. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Adds a monitor, or replaces the one with this id. Terms that hold nothing to search for are ignored, and of terms
   * that are equal after folding the first counts; `validateTerms` tells users of both.
   */
  set(id: string, rule: Rule, ...[payload]: undefined extends P ? [payload?: P] : [payload: P]): void {
    // What the new rule shares with the old one is never given back in between.
    const keywords = this.#hold(rule.keywords);
    const exclude = this.#hold(rule.exclude);
    const former = this.#records.get(id);
    if (former !== undefined) this.#discard(former);
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

  /** What was given to `set` with the rule; undefined: the id is unknown. */
  get(id: string): P | undefined {
    const record = this.#records.get(id);
    return record === undefined ? undefined : this.#payloads[this.#heap.get(record + OWNER)];
  }

  /** All of them. Monitors may come and go meanwhile. */
  ids(): Iterable<string> {
    return this.#records.keys();
  }

  /** An unknown id is ignored. */
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

  /** Every monitor that matches, in no particular order. Takes any UTF-16, lone surrogates too; never throws. */
  match(item: MatchItem): MonitorMatchResult<P>[] {
    const results: MonitorMatchResult<P>[] = [];
    this.#forEach(item, true, (record, place) => {
      results.push(this.#resultOf(record, place));
    });
    return results;
  }

  /** Like `match`, without the terms, which is cheaper. Nothing may be changed or matched meanwhile. */
  forEachMatch(item: MatchItem, visit: (monitorId: string, payload: P) => void): void {
    this.#forEach(item, false, (record) => {
      const owner = this.#heap.get(record + OWNER);
      visit(this.#ids[owner] ?? '', this.#payloads[owner] as P);
    });
  }

  #forEach(item: MatchItem, withTerms: boolean, visit: (record: number, place: number) => void): void {
    this.#terms.begin();
    forEachText(item, (text, field) => {
      this.#terms.search(text, field);
    });
    this.#steps = this.#terms.steps;
    this.#collectHits(withTerms);
    const { records } = this.#hits;
    if (records.length === 0) return;
    const filtered = filteredItem(item);
    for (let place = 0; place < records.length; place++) {
      const record = records.items[place] ?? 0;
      if (this.#lets(record, filtered) && !this.#isExcluded(record)) visit(record, place);
    }
  }

  #lets(record: number, item: FilteredItem): boolean {
    const bits = this.#heap.get(record + FILTER);
    const subreddits = (bits & WITHIN) === 0 ? undefined : this.#subreddits.get(this.#heap.get(record + OWNER));
    return blockingFilter(bits, subreddits, item) === undefined;
  }

  #collectHits(withTerms: boolean): void {
    const heap = this.#heap;
    const { terms } = this.#terms.found;
    this.#hits.clear();
    for (let index = 0; index < terms.length; index++) {
      for (let at = postings(heap, terms.items[index] ?? 0); at !== 0; at = heap.get(at + NEXT)) {
        this.#steps++;
        if (withTerms) this.#hits.add(heap.get(at + MONITOR), at, index);
        else this.#hits.touch(heap.get(at + MONITOR));
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

  #resultOf(record: number, place: number): MonitorMatchResult<P> {
    const heap = this.#heap;
    const { fields, starts, ends } = this.#terms.found;
    const matchedTerms: string[] = [];
    const positions: MatchPosition[] = [];
    for (const { posting, found } of this.#hits.of(place)) {
      matchedTerms.push(this.#written.get(heap.get(record + WRITTEN), (posting - record - TERMS) / POSTING));
      const field = FIELDS[fields.items[found] ?? 0] ?? 'text';
      positions.push({ field, start: starts.items[found] ?? 0, end: ends.items[found] ?? 0 });
    }
    const owner = heap.get(record + OWNER);
    return { monitorId: this.#ids[owner] ?? '', matchedTerms, positions, payload: this.#payloads[owner] as P };
  }

  #hold(written: readonly string[]): HeldTerms {
    const held: HeldTerms = { written: [], terms: [] };
    for (const text of written) {
      const term = this.#terms.hold(text);
      if (term === 0) continue;
      if (held.terms.includes(term)) this.#terms.release(text);
      else {
        held.written.push(text);
        held.terms.push(term);
      }
    }
    return held;
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
