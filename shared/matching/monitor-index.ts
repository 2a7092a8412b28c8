import { postings } from './terms/found-terms.ts';
import { Hits } from './terms/hits.ts';
import { firstConditional, isHeader, monitorOf, nextPosting, textsOf } from './terms/monitor-postings.ts';
import { blockingFilter, filteredItem, filterOf, HAS_LISTS, NAMES_SUBREDDITS, passesBits } from './item-filter.ts';
import type { FilteredItem, RuleLists } from './item-filter.ts';
import { HITS, MonitorRecords } from './monitor-records.ts';
import { firstText, forEachText, TEXTS, USUAL_TEXTS } from './text/item-texts.ts';
import type { MatchItem, MatchPosition, Rule } from './rule.ts';
import { TermIndex } from './terms/term-index.ts';

export interface MonitorMatchResult<P = undefined> {
  monitorId: string;
  /** The keywords and terms that were found, as written, in the monitor's order, each once. Never empty. */
  matchedTerms: string[];
  /** The first occurrence of each matched term, in the same order. */
  positions: MatchPosition[];
  /** The payload that was passed to `set` with the rule that matched. */
  payload: P;
}

/**
 * Matches one item at a time against any number of monitors. The cost of an item grows with its length and with the
 * number of monitors that watch for a term in it, not with the number of all monitors. Changes are in place and take
 * effect with the next item; the cost of a change grows with the length of the rule.
 */
export class MonitorIndex<P = undefined> {
  readonly #terms = new TermIndex();
  readonly #heap = this.#terms.heap;
  readonly #monitors = new MonitorRecords(this.#terms);
  /** The record of each monitor. */
  readonly #records = new Map<string, number>();
  /** Properties that are not integers, by the monitor's number, which is the owner of its record. */
  readonly #ids: string[] = [];
  readonly #payloads: (P | undefined)[] = [];
  readonly #subreddits = new Map<number, ReadonlySet<string>>();
  readonly #lists = new Map<number, RuleLists>();
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
    return this.#monitors.textBytes;
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
    const { bits, subreddits, lists } = filterOf(rule);
    // Create before discarding the old rule, so that terms in both rules are never removed in between.
    const record = this.#monitors.create(rule, bits);
    const previous = this.#records.get(id);
    if (previous !== undefined) this.#discard(previous);
    const owner = this.#freeOwners.pop() ?? this.#ids.length;
    this.#monitors.setOwner(record, owner);
    this.#ids[owner] = id;
    this.#payloads[owner] = payload;
    if (subreddits !== undefined) this.#subreddits.set(owner, subreddits);
    if (lists !== undefined) this.#lists.set(owner, lists);
    this.#records.set(id, record);
  }

  /** The payload that was passed to `set`, or undefined if the id is unknown. */
  get(id: string): P | undefined {
    const record = this.#records.get(id);
    return record === undefined ? undefined : this.#payloads[this.#monitors.owner(record)];
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
    const owner = this.#monitors.owner(record);
    this.#ids[owner] = '';
    this.#payloads[owner] = undefined;
    this.#subreddits.delete(owner);
    this.#lists.delete(owner);
    this.#freeOwners.push(owner);
    this.#monitors.discard(record);
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
      const owner = this.#monitors.owner(record);
      visit(this.#ids[owner] ?? '', this.#payloads[owner] as P);
    });
  }

  #forEach(item: MatchItem, withTerms: boolean, visit: (record: number, hit: number) => void): void {
    this.#terms.begin();
    forEachText(item, this.#monitors.searchesPostTitles, (written, text) => {
      this.#terms.search(written, text);
    });
    this.#steps = this.#terms.steps;
    this.#collectHits(withTerms);
    const { records } = this.#hits;
    if (records.length === 0) return;
    const filtered = filteredItem(item);
    for (let hit = 0; hit < records.length; hit++) {
      const record = records.items[hit] ?? 0;
      if (this.#passesFilter(record, filtered) && this.#passesTerms(record)) visit(record, hit);
    }
  }

  #passesFilter(record: number, item: FilteredItem): boolean {
    const bits = this.#monitors.filterBits(record);
    if (!passesBits(bits, item)) return false;
    if ((bits & (NAMES_SUBREDDITS | HAS_LISTS)) === 0) return true;
    const owner = this.#monitors.owner(record);
    const [subreddits, lists] = [this.#subreddits.get(owner), this.#lists.get(owner)];
    return blockingFilter({ bits, subreddits, lists }, item) === undefined;
  }

  /** Whether the item has a term of each required group, and no excluded one. */
  #passesTerms(record: number): boolean {
    const required = this.#monitors.requiredSteps(record);
    const excluded = required < 0 ? 0 : this.#monitors.excludedSteps(record);
    this.#steps += Math.abs(required) + Math.abs(excluded);
    return required >= 0 && excluded >= 0;
  }

  #collectHits(withTerms: boolean): void {
    const heap = this.#heap;
    const { terms, texts } = this.#terms.found;
    this.#hits.clear();
    for (let index = 0; index < terms.length; index++) {
      let posting = postings(heap, terms.items[index] ?? 0);
      if (isHeader(heap, posting)) {
        this.#collectConditional(firstConditional(heap, posting), index, withTerms);
        posting = nextPosting(heap, posting);
      }
      if (((texts.items[index] ?? 0) & USUAL_TEXTS) === 0) continue;
      for (; posting !== 0; posting = nextPosting(heap, posting)) {
        this.#steps++;
        if (withTerms) this.#hits.add(monitorOf(heap, posting), posting, index);
        else this.#hits.touch(monitorOf(heap, posting));
      }
    }
  }

  /** @param found the term's index in FoundTerms */
  #collectConditional(first: number, found: number, withTerms: boolean): void {
    const heap = this.#heap;
    const hits = this.#hits;
    const texts = this.#terms.found.texts.items[found] ?? 0;
    for (let posting = first; posting !== 0; posting = nextPosting(heap, posting)) {
      this.#steps++;
      if ((textsOf(heap, posting) & texts) === 0) continue;
      const record = monitorOf(heap, posting);
      if (withTerms) hits.add(record, posting, found);
      else hits.touch(record);
    }
  }

  #resultOf(record: number, hit: number): MonitorMatchResult<P> {
    const { found } = this.#terms;
    const matchedTerms: string[] = [];
    const positions: MatchPosition[] = [];
    const isConditional = this.#monitors.isConditional(record);
    for (const { posting, found: index } of this.#hits.of(hit)) {
      const written = this.#monitors.writtenTerm(record, posting);
      // Terms that differ in their conditions may have the same text.
      if (isConditional && matchedTerms.includes(written)) continue;
      matchedTerms.push(written);
      const counting = isConditional ? textsOf(this.#heap, posting) : USUAL_TEXTS;
      const text = firstText((found.texts.items[index] ?? 0) & counting);
      const { start, end } = found.position(index, text);
      positions.push({ field: TEXTS[text] ?? 'text', start, end });
    }
    const owner = this.#monitors.owner(record);
    return { monitorId: this.#ids[owner] ?? '', matchedTerms, positions, payload: this.#payloads[owner] as P };
  }
}
