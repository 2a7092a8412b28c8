import { postings, setPostings } from './found-terms.ts';
import { Hits } from './hits.ts';
import { blockingFilter, filteredItem, filterOf } from './item-filter.ts';
import type { RuleFilter } from './item-filter.ts';
import { FIELDS, forEachText } from './item-texts.ts';
import { packedString, packStrings, unpackStrings } from './packed-strings.ts';
import type { MatchItem, MatchPosition, Rule } from './rule.ts';
import { TermIndex } from './term-index.ts';

export interface MonitorMatchResult<P = undefined> {
  monitorId: string;
  /** The keywords found, as the owner wrote them, in the monitor's order, each once. Never empty. */
  matchedTerms: string[];
  /** Where each of them occurs first, in the same order. */
  positions: MatchPosition[];
  /** What was given to `set` with the rule that matched. */
  payload: P;
}

/** What cannot be said in integers. */
interface Monitor<P> extends RuleFilter {
  readonly id: string;
  readonly payload: P;
  /** The terms that are held, as they were written, packed: the keywords, then the excluded ones. */
  readonly written: string;
  readonly record: number;
}

/** A monitor's record: these, then a posting for each keyword, then the term of each exclude. */
const OWNER = 0;
const HITS = 1;
const KEYWORDS = 2;
const EXCLUDES = 3;
const TERMS = 4;

/** A posting: the monitor among those that watch for a term, in a list linked both ways. */
const NEXT = 0;
const PREVIOUS = 1;
const MONITOR = 2;
const TERM = 3;
const POSTING = 4;

interface HeldTerms {
  readonly written: string[];
  readonly terms: number[];
}

/**
 * Any number of monitors, matched against one item at a time. The cost of an item grows with its length and with the monitors
 * that watch a term which occurs in it, not with the number of monitors. A change is in place and counts from the next
 * item on; it costs as much as the rule is long.
 */
export class MonitorIndex<P = undefined> {
  readonly #terms = new TermIndex();
  readonly #heap = this.#terms.heap;
  readonly #byId = new Map<string, Monitor<P>>();
  /** By the number in the monitors' records. */
  readonly #owners: (Monitor<P> | undefined)[] = [];
  readonly #freeOwners: number[] = [];
  readonly #hits = new Hits(this.#heap, HITS);
  #steps = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** The bytes of all tables; what is kept in objects (ids, payloads, terms as they were written) comes on top. */
  get bytes(): number {
    return this.#terms.bytes;
  }

  /** The steps of work of the last `match` or `forEachMatch`: code units read, probes, nodes and postings visited. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Adds a monitor, or replaces the one with this id. Terms that hold nothing to search for are ignored, and of terms that are equal
   * after folding the first counts; `validateTerms` tells users of both.
   */
  set(id: string, rule: Rule, ...[payload]: undefined extends P ? [payload?: P] : [payload: P]): void {
    // What the new rule shares with the old one is never given back in between.
    const keywords = this.#hold(rule.keywords);
    const exclude = this.#hold(rule.exclude);
    this.remove(id);
    const owner = this.#freeOwners.pop() ?? this.#owners.length;
    const record = this.#createRecord(owner, keywords.terms, exclude.terms);
    const written = packStrings([...keywords.written, ...exclude.written]);
    const monitor: Monitor<P> = { id, payload: payload as P, ...filterOf(rule), written, record };
    this.#owners[owner] = monitor;
    this.#byId.set(id, monitor);
  }

  /** An unknown id is ignored. */
  remove(id: string): void {
    const monitor = this.#byId.get(id);
    if (monitor === undefined) return;
    this.#byId.delete(id);
    const { record, written } = monitor;
    const heap = this.#heap;
    const owner = heap.get(record + OWNER);
    this.#owners[owner] = undefined;
    this.#freeOwners.push(owner);
    const keywords = heap.get(record + KEYWORDS);
    for (let index = 0; index < keywords; index++) this.#unlink(record + TERMS + POSTING * index);
    heap.free(record, TERMS + POSTING * keywords + heap.get(record + EXCLUDES));
    for (const term of unpackStrings(written)) this.#terms.release(term);
  }

  /** Every monitor that matches, in no particular order. Takes any UTF-16, lone surrogates too; never throws. */
  match(item: MatchItem): MonitorMatchResult<P>[] {
    const results: MonitorMatchResult<P>[] = [];
    this.#forEach(item, true, (monitor, place) => {
      results.push(this.#resultOf(monitor, place));
    });
    return results;
  }

  /** Like `match`, without the terms, which is cheaper. Nothing may be changed or matched meanwhile. */
  forEachMatch(item: MatchItem, visit: (monitorId: string, payload: P) => void): void {
    this.#forEach(item, false, ({ id, payload }) => {
      visit(id, payload);
    });
  }

  #forEach(item: MatchItem, withTerms: boolean, visit: (monitor: Monitor<P>, place: number) => void): void {
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
      const monitor = this.#owners[this.#heap.get(record + OWNER)];
      if (monitor === undefined || blockingFilter(monitor, filtered) !== undefined) continue;
      if (!this.#isExcluded(record)) visit(monitor, place);
    }
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

  #resultOf({ id, payload, written, record }: Monitor<P>, place: number): MonitorMatchResult<P> {
    const { fields, starts, ends } = this.#terms.found;
    const matchedTerms: string[] = [];
    const positions: MatchPosition[] = [];
    for (const { posting, found } of this.#hits.of(place)) {
      matchedTerms.push(packedString(written, (posting - record - TERMS) / POSTING));
      const field = FIELDS[fields.items[found] ?? 0] ?? 'text';
      positions.push({ field, start: starts.items[found] ?? 0, end: ends.items[found] ?? 0 });
    }
    return { monitorId: id, matchedTerms, positions, payload };
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
    heap.set(posting + MONITOR, record);
    heap.set(posting + TERM, term);
    if (next !== 0) heap.set(next + PREVIOUS, posting);
    setPostings(heap, term, posting);
  }

  #unlink(posting: number): void {
    const heap = this.#heap;
    const next = heap.get(posting + NEXT);
    const previous = heap.get(posting + PREVIOUS);
    if (previous === 0) setPostings(heap, heap.get(posting + TERM), next);
    else heap.set(previous + NEXT, next);
    if (next !== 0) heap.set(next + PREVIOUS, previous);
  }
}
