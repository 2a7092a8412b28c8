import { blockingFilter, filteredItem, filterOf } from './item-filter.ts';
import type { FilteredItem, RuleLists } from './item-filter.ts';
import { MonitorRecords, PASSES, UNDECIDED } from './monitor-records.ts';
import { IntList } from './terms/int-list.ts';
import { firstText, forEachText, TEXTS } from './rule.ts';
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
  /**
   * The id of each monitor at twice its number, and then its payload. They are side by side because both are read for
   * every match, nearly always from memory that is in no cache.
   */
  readonly #owners: (string | P | undefined)[] = [];
  /** Other properties that are not integers, by the monitor's number. */
  readonly #subreddits = new Map<number, ReadonlySet<string>>();
  readonly #lists = new Map<number, RuleLists>();
  /** The hits of the last item that match, as indexes of the monitors of the hits. */
  readonly #matching = new IntList();
  #steps = 0;

  get size(): number {
    return this.#numbers.size;
  }

  /** The bytes of all records. */
  get bytes(): number {
    return this.#terms.heap.bytes;
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
    this.#owners[2 * monitor] = id;
    this.#owners[2 * monitor + 1] = payload;
    if (subreddits !== undefined) this.#subreddits.set(monitor, subreddits);
    if (lists !== undefined) this.#lists.set(monitor, lists);
    this.#numbers.set(id, monitor);
  }

  /** The payload that was passed to `set`, or undefined if the id is unknown. */
  get(id: string): P | undefined {
    const monitor = this.#numbers.get(id);
    return monitor === undefined ? undefined : this.#payloadOf(monitor);
  }

  ids(): Iterable<string> {
    return this.#numbers.keys();
  }

  remove(id: string): void {
    const monitor = this.#numbers.get(id);
    if (monitor === undefined) return;
    this.#numbers.delete(id);
    this.#discard(monitor);
  }

  #discard(monitor: number): void {
    this.#owners[2 * monitor] = '';
    this.#owners[2 * monitor + 1] = undefined;
    this.#subreddits.delete(monitor);
    this.#lists.delete(monitor);
    this.#monitors.remove(monitor);
  }

  /** All monitors that match, in no particular order. Accepts any UTF-16, also lone surrogates; never throws. */
  match(item: MatchItem): MonitorMatchResult<P>[] {
    this.#findMatching(item, true);
    const { monitors } = this.#monitors.hits;
    const results: MonitorMatchResult<P>[] = [];
    for (let index = 0; index < this.#matching.length; index++) {
      const hit = this.#matching.items[index] ?? 0;
      results.push(this.#resultOf(monitors.items[hit] ?? 0, hit));
    }
    return results;
  }

  /** Like `match`, but without terms, which is cheaper. `visit` must not change the index or match with it. */
  forEachMatch(item: MatchItem, visit: (monitorId: string, payload: P) => void): void {
    this.#findMatching(item, false);
    const { monitors } = this.#monitors.hits;
    for (let index = 0; index < this.#matching.length; index++) {
      const monitor = monitors.items[this.#matching.items[index] ?? 0] ?? 0;
      visit(this.#idOf(monitor), this.#payloadOf(monitor));
    }
  }

  #idOf(monitor: number): string {
    return this.#owners[2 * monitor] as string;
  }

  #payloadOf(monitor: number): P {
    return this.#owners[2 * monitor + 1] as P;
  }

  #findMatching(item: MatchItem, withTerms: boolean): void {
    this.#terms.begin();
    forEachText(item, this.#monitors.searchesPostTitles, (written, text) => {
      this.#terms.search(written, text);
    });
    const { hits, postings } = this.#monitors;
    hits.clear();
    this.#monitors.steps = 0;
    this.#steps = this.#terms.steps + postings.collect(this.#terms.found, hits, withTerms);
    this.#matching.clear();
    if (hits.monitors.length > 0) this.#keepMatching(filteredItem(item));
  }

  /**
   * Most hits are decided by the row of the monitor alone. This loop does nothing else, so that the processor reads the
   * rows of many monitors at once.
   */
  #keepMatching(item: FilteredItem): void {
    const { monitors } = this.#monitors.hits;
    for (let hit = 0; hit < monitors.length; hit++) {
      const monitor = monitors.items[hit] ?? 0;
      const decision = this.#monitors.decide(monitor, item.bits);
      if (decision === PASSES || (decision === UNDECIDED && this.#passes(monitor, item))) this.#matching.push(hit);
    }
    this.#steps += this.#monitors.steps;
  }

  #passes(monitor: number, item: FilteredItem): boolean {
    const bits = this.#monitors.filterBits(monitor);
    const [subreddits, lists] = [this.#subreddits.get(monitor), this.#lists.get(monitor)];
    return blockingFilter({ bits, subreddits, lists }, item) === undefined && this.#monitors.passesTerms(monitor);
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
    return { monitorId: this.#idOf(monitor), matchedTerms, positions, payload: this.#payloadOf(monitor) };
  }

  /** In the order of its keywords. */
  #hitsOf(monitor: number, hit: number): { place: number; position: number; found: number }[] {
    return this.#monitors.hits
      .of(hit)
      .map((each) => ({ ...each, position: this.#monitors.positionOf(monitor, each.place) }))
      .sort((one, other) => one.position - other.position);
  }
}

/**
 * Returns the keywords by which the item matches the rule, as written and in their order, or undefined if it does not
 * match. Each call compiles the rule: to match many items against one rule, keep a MonitorIndex instead.
 */
export function matchOne(rule: Rule, item: MatchItem): string[] | undefined {
  const index = new MonitorIndex();
  index.set('one', rule);
  return index.match(item)[0]?.matchedTerms;
}
