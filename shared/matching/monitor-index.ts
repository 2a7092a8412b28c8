import { blockingFilter, filteredItem, filterOf, HAS_LISTS, NAMES_SUBREDDITS, passesBits } from './item-filter.ts';
import type { FilteredItem, RuleLists } from './item-filter.ts';
import { MonitorRecords } from './monitor-records.ts';
import { firstText, forEachText, TEXTS } from './text/item-texts.ts';
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
  readonly #monitors = new MonitorRecords(this.#terms);
  /** The number of each monitor. */
  readonly #numbers = new Map<string, number>();
  /** Properties that are not integers, by the monitor's number. */
  readonly #ids: string[] = [];
  readonly #payloads: (P | undefined)[] = [];
  readonly #subreddits = new Map<number, ReadonlySet<string>>();
  readonly #lists = new Map<number, RuleLists>();
  #steps = 0;

  get size(): number {
    return this.#numbers.size;
  }

  /** The bytes of all tables, without ids, payloads and the terms as written. */
  get bytes(): number {
    return this.#terms.bytes + this.#monitors.bytes;
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
    // Add before removing the old rule, so that terms in both rules are never removed in between.
    const monitor = this.#monitors.add(rule, bits);
    const previous = this.#numbers.get(id);
    if (previous !== undefined) this.#discard(previous);
    this.#ids[monitor] = id;
    this.#payloads[monitor] = payload;
    if (subreddits !== undefined) this.#subreddits.set(monitor, subreddits);
    if (lists !== undefined) this.#lists.set(monitor, lists);
    this.#numbers.set(id, monitor);
  }

  /** The payload that was passed to `set`, or undefined if the id is unknown. */
  get(id: string): P | undefined {
    const monitor = this.#numbers.get(id);
    return monitor === undefined ? undefined : this.#payloads[monitor];
  }

  /** All ids. Monitors may be added and removed during the iteration. */
  ids(): Iterable<string> {
    return this.#numbers.keys();
  }

  /** Removes a monitor. Ignores an unknown id. */
  remove(id: string): void {
    const monitor = this.#numbers.get(id);
    if (monitor === undefined) return;
    this.#numbers.delete(id);
    this.#discard(monitor);
  }

  #discard(monitor: number): void {
    this.#ids[monitor] = '';
    this.#payloads[monitor] = undefined;
    this.#subreddits.delete(monitor);
    this.#lists.delete(monitor);
    this.#monitors.remove(monitor);
  }

  /** All monitors that match, in no particular order. Accepts any UTF-16, also lone surrogates; never throws. */
  match(item: MatchItem): MonitorMatchResult<P>[] {
    const results: MonitorMatchResult<P>[] = [];
    this.#forEach(item, true, (monitor, hit) => {
      results.push(this.#resultOf(monitor, hit));
    });
    return results;
  }

  /** Like `match`, but without terms, which is cheaper. `visit` must not change the index or match with it. */
  forEachMatch(item: MatchItem, visit: (monitorId: string, payload: P) => void): void {
    this.#forEach(item, false, (monitor) => {
      visit(this.#ids[monitor] ?? '', this.#payloads[monitor] as P);
    });
  }

  #forEach(item: MatchItem, withTerms: boolean, visit: (monitor: number, hit: number) => void): void {
    this.#terms.begin();
    forEachText(item, this.#monitors.searchesPostTitles, (written, text) => {
      this.#terms.search(written, text);
    });
    this.#steps = this.#terms.steps;
    this.#collectHits(withTerms);
    const { monitors } = this.#monitors.hits;
    if (monitors.length === 0) return;
    const filtered = filteredItem(item);
    for (let hit = 0; hit < monitors.length; hit++) {
      const monitor = monitors.items[hit] ?? 0;
      if (this.#passesFilter(monitor, filtered) && this.#passesTerms(monitor)) visit(monitor, hit);
    }
  }

  #passesFilter(monitor: number, item: FilteredItem): boolean {
    const bits = this.#monitors.filterBits(monitor);
    if (!passesBits(bits, item)) return false;
    if ((bits & (NAMES_SUBREDDITS | HAS_LISTS)) === 0) return true;
    const [subreddits, lists] = [this.#subreddits.get(monitor), this.#lists.get(monitor)];
    return blockingFilter({ bits, subreddits, lists }, item) === undefined;
  }

  /** Whether the item has a term of each required group, and no excluded one. */
  #passesTerms(monitor: number): boolean {
    const required = this.#monitors.requiredSteps(monitor);
    const excluded = required < 0 ? 0 : this.#monitors.excludedSteps(monitor);
    this.#steps += Math.abs(required) + Math.abs(excluded);
    return required >= 0 && excluded >= 0;
  }

  #collectHits(withTerms: boolean): void {
    const { terms, texts } = this.#terms.found;
    const { hits, postings } = this.#monitors;
    hits.clear();
    for (let found = 0; found < terms.length; found++) {
      const [term, inTexts] = [terms.items[found] ?? 0, texts.items[found] ?? 0];
      this.#steps += postings.collect(term, inTexts, hits, withTerms ? found : -1);
    }
  }

  #resultOf(monitor: number, hit: number): MonitorMatchResult<P> {
    const { found } = this.#terms;
    const matchedTerms: string[] = [];
    const positions: MatchPosition[] = [];
    const isConditional = this.#monitors.isConditional(monitor);
    for (const { place, position, found: index } of this.#hitsOf(monitor, hit)) {
      const written = this.#monitors.writtenTerm(monitor, position);
      // Terms that differ in their conditions may have the same text.
      if (isConditional && matchedTerms.includes(written)) continue;
      matchedTerms.push(written);
      const text = firstText((found.texts.items[index] ?? 0) & this.#monitors.postings.texts(place));
      const { start, end } = found.position(index, text);
      positions.push({ field: TEXTS[text] ?? 'text', start, end });
    }
    return { monitorId: this.#ids[monitor] ?? '', matchedTerms, positions, payload: this.#payloads[monitor] as P };
  }

  /** In the order of its keywords. */
  #hitsOf(monitor: number, hit: number): { place: number; position: number; found: number }[] {
    return this.#monitors.hits
      .of(hit)
      .map((each) => ({ ...each, position: this.#monitors.positionOf(monitor, each.place) }))
      .sort((one, other) => one.position - other.position);
  }
}
