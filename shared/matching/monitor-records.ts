import { FILTER_BITS, HAS_LISTS, NAMES_SUBREDDITS, passesBits } from './item-filter.ts';
import { acquireRule, unpackTerm } from './rule-terms.ts';
import type { AcquiredTerms } from './rule-terms.ts';
import { ALL_TEXTS, POST_TITLE, USUAL_TEXTS } from './rule.ts';
import type { Rule } from './rule.ts';
import { countOf, signatureOf } from './terms/found-terms.ts';
import { IntList } from './terms/int-list.ts';
import type { IntHeap } from './terms/int-list.ts';
import { Hits, MonitorPostings } from './terms/monitor-postings.ts';
import type { TermIndex } from './terms/term-index.ts';

/**
 * A monitor has a number, and by this number a row: what nearly always decides whether an item matches. All rows are in
 * one array, because they are read for every monitor that watches for a term of the item. The first integer of a row is
 * for Hits.
 */
const ROW = 4;
/** Bits of the filters, then those below. */
const FILTER = 1;
/** The signature of its excluded terms, or MANY. */
const EXCLUDED = 2;
const RECORD = 3;

/** It has more excluded terms than a signature. */
const MANY = -1;
const MAX_IN_SIGNATURE = 2;

/**
 * A monitor's record: these integers, then the place of the posting of each keyword, then the term of each exclude. If
 * the rule has conditions, the record also has GROUPS, the keywords are followed by `terms`, and at the end there are
 * the groups of `require`: for each the number of its terms, then for each of them the term and the texts in which it
 * counts.
 */
const POSTINGS = 0;
const EXCLUDES = 1;
const PLACES = 2;
/** The number of integers that its groups take. */
const GROUPS = 2;
const CONDITIONAL_PLACES = 3;
const GROUP_TERM = 2;

const IS_CONDITIONAL = 1 << FILTER_BITS;
/** Excluded terms are searched in the title of a comment's post as well. */
const EXCLUDES_IN_POST_TITLE = 2 << FILTER_BITS;
/** What the row alone does not decide. */
const NEEDS_MORE = NAMES_SUBREDDITS | HAS_LISTS | IS_CONDITIONAL;

/** What `decide` returns. */
const REJECTED = 0;
export const PASSES = 1;
export const UNDECIDED = 2;

/** The records of monitors, and the terms that they hold. */
export class MonitorRecords {
  readonly #terms: TermIndex;
  readonly #heap: IntHeap;
  /**
   * By monitor the terms as written: those of the postings, then those of the groups, then the excluded ones. They are
   * read only when something matches, and one string takes half the memory of one for each term.
   */
  readonly #written: string[] = [];
  readonly #rows = new IntList();
  /** Numbers of removed monitors. */
  readonly #free: number[] = [];
  readonly hits = new Hits(this.#rows, ROW);
  readonly postings: MonitorPostings;
  /** The number of rules that search the titles of comments' posts. */
  #seesPostTitle = 0;
  /** The required and excluded terms that were looked up, until somebody resets it. */
  steps = 0;

  constructor(terms: TermIndex) {
    this.#terms = terms;
    this.#heap = terms.heap;
    this.postings = new MonitorPostings(terms.heap, (monitor, from, to) => {
      this.#heap.set(this.#firstPlace(monitor) + this.positionOf(monitor, from), to);
    });
  }

  /** Whether the title of a comment's post must be searched. */
  get searchesPostTitles(): boolean {
    return this.#seesPostTitle > 0;
  }

  /**
   * Adds a monitor; returns its number. Ignores terms that have nothing to search for, and terms that equal an earlier
   * term of their group.
   *
   * @param bits of the filters
   */
  add(rule: Rule, bits: number): number {
    const { isPlain, excludeTexts, wanted, required, exclude } = acquireRule(this.#terms, rule);
    const monitor = this.#free.pop() ?? this.#addRow();
    const seesPostTitle = (excludeTexts & POST_TITLE) !== 0;
    if (seesPostTitle) this.#seesPostTitle++;
    const conditions = (isPlain ? 0 : IS_CONDITIONAL) | (seesPostTitle ? EXCLUDES_IN_POST_TITLE : 0);
    this.#set(monitor, FILTER, bits | conditions);
    const { addresses } = exclude;
    this.#set(monitor, EXCLUDED, addresses.length > MAX_IN_SIGNATURE ? MANY : signatureOf(addresses));
    this.#createRecord(monitor, wanted, required, addresses);
    this.#written[monitor] = joinTerms([wanted, ...required, exclude].flatMap(({ written }) => written));
    return monitor;
  }

  remove(monitor: number): void {
    const heap = this.#heap;
    const isConditional = this.isConditional(monitor);
    const record = this.#get(monitor, RECORD);
    if ((this.filterBits(monitor) & EXCLUDES_IN_POST_TITLE) !== 0) this.#seesPostTitle--;
    const excludes = this.#firstExclude(monitor);
    let address = this.#firstPlace(monitor);
    for (const packed of splitTerms(this.#written[monitor] ?? '')) {
      const { written: text, options } = isConditional ? unpackTerm(packed) : { written: packed, options: undefined };
      const place = address < excludes ? heap.get(address) : 0;
      this.#terms.release(text, options, (term) => {
        if (place === 0) return;
        // Another entry of this monitor may be moved to this place.
        heap.set(address, 0);
        this.postings.remove(term, place, isConditional);
      });
      address++;
    }
    this.#written[monitor] = '';
    const groups = excludes + heap.get(record + EXCLUDES);
    heap.free(record, groups - record + (isConditional ? heap.get(record + GROUPS) : 0));
    this.#free.push(monitor);
  }

  /** The bits of the filters, and others above them. */
  filterBits(monitor: number): number {
    return this.#get(monitor, FILTER);
  }

  isConditional(monitor: number): boolean {
    return (this.filterBits(monitor) & IS_CONDITIONAL) !== 0;
  }

  /**
   * Decides by the row alone, as far as that is possible, whether an item with these bits of filters matches the
   * monitor, which watches for a term of it.
   */
  decide(monitor: number, itemBits: number): typeof REJECTED | typeof PASSES | typeof UNDECIDED {
    const rows = this.#rows.items;
    const row = monitor * ROW;
    const bits = rows[row + FILTER] ?? 0;
    if (!passesBits(bits, itemBits)) return REJECTED;
    const signature = rows[row + EXCLUDED] ?? 0;
    if ((bits & NEEDS_MORE) !== 0 || signature === MANY || this.#terms.found.mayHaveAny(signature)) return UNDECIDED;
    this.steps += countOf(signature);
    return PASSES;
  }

  /** Whether the item has a term of each required group, and no excluded one. */
  passesTerms(monitor: number): boolean {
    return this.#meetsGroups(monitor) && !this.#hasExcluded(monitor);
  }

  #meetsGroups(monitor: number): boolean {
    if (!this.isConditional(monitor)) return true;
    const heap = this.#heap;
    const record = this.#get(monitor, RECORD);
    let group = this.#firstExclude(monitor) + heap.get(record + EXCLUDES);
    const end = group + heap.get(record + GROUPS);
    while (group < end) {
      const next = group + 1 + GROUP_TERM * heap.get(group);
      let term = group + 1;
      for (; term < next; term += GROUP_TERM) {
        this.steps++;
        if (this.#terms.found.hasIn(heap.get(term), heap.get(term + 1))) break;
      }
      if (term === next) return false;
      group = next;
    }
    return true;
  }

  #hasExcluded(monitor: number): boolean {
    const signature = this.#get(monitor, EXCLUDED);
    if (signature !== MANY && !this.#terms.found.mayHaveAny(signature)) {
      this.steps += countOf(signature);
      return false;
    }
    const heap = this.#heap;
    const texts = (this.filterBits(monitor) & EXCLUDES_IN_POST_TITLE) === 0 ? USUAL_TEXTS : ALL_TEXTS;
    const first = this.#firstExclude(monitor);
    const end = first + heap.get(this.#get(monitor, RECORD) + EXCLUDES);
    for (let address = first; address < end; address++) {
      this.steps++;
      if (this.#terms.found.hasIn(heap.get(address), texts)) return true;
    }
    return false;
  }

  /** The position among the keywords and terms of a monitor of the one whose posting is at this place. */
  positionOf(monitor: number, place: number): number {
    const first = this.#firstPlace(monitor);
    let address = first;
    while (this.#heap.get(address) !== place) address++;
    return address - first;
  }

  /** The keyword or term at this position, as its owner wrote it. */
  writtenTerm(monitor: number, position: number): string {
    const written = termAt(this.#written[monitor] ?? '', position);
    return this.isConditional(monitor) ? unpackTerm(written).written : written;
  }

  #get(monitor: number, field: number): number {
    return this.#rows.items[monitor * ROW + field] ?? 0;
  }

  #set(monitor: number, field: number, value: number): void {
    this.#rows.items[monitor * ROW + field] = value;
  }

  #addRow(): number {
    this.#rows.extend(ROW);
    return this.#rows.length / ROW - 1;
  }

  #firstPlace(monitor: number): number {
    return this.#get(monitor, RECORD) + (this.isConditional(monitor) ? CONDITIONAL_PLACES : PLACES);
  }

  #firstExclude(monitor: number): number {
    return this.#firstPlace(monitor) + this.#heap.get(this.#get(monitor, RECORD) + POSTINGS);
  }

  #createRecord(
    monitor: number,
    wanted: AcquiredTerms,
    required: readonly AcquiredTerms[],
    exclude: readonly number[],
  ): void {
    const heap = this.#heap;
    const isConditional = this.isConditional(monitor);
    const groups = required.reduce((sum, group) => sum + 1 + GROUP_TERM * group.addresses.length, 0);
    const fixed = isConditional ? CONDITIONAL_PLACES : PLACES;
    const { addresses, texts } = wanted;
    const record = heap.allocate(fixed + addresses.length + exclude.length + groups);
    // Before the postings: a monitor may be twice in one list, and then its own entry may be moved.
    this.#set(monitor, RECORD, record);
    heap.set(record + POSTINGS, addresses.length);
    heap.set(record + EXCLUDES, exclude.length);
    let address = record + fixed;
    for (let index = 0; index < addresses.length; index++) {
      const inTexts = texts[index] ?? USUAL_TEXTS;
      heap.set(address++, this.postings.add(addresses[index] ?? 0, monitor, inTexts, isConditional));
    }
    for (const term of exclude) heap.set(address++, term);
    if (!isConditional) return;
    heap.set(record + GROUPS, groups);
    this.#setGroups(address, required);
  }

  #setGroups(first: number, required: readonly AcquiredTerms[]): void {
    const heap = this.#heap;
    let group = first;
    for (const { addresses, texts } of required) {
      heap.set(group++, addresses.length);
      for (const [index, address] of addresses.entries()) {
        heap.set(group, address);
        heap.set(group + 1, texts[index] ?? USUAL_TEXTS);
        group += GROUP_TERM;
      }
    }
  }
}

/** One string of all, each after its length in two units. Terms may have any UTF-16. */
function joinTerms(terms: readonly string[]): string {
  return terms.flatMap((term) => [String.fromCharCode(term.length >>> 16, term.length & 0xffff), term]).join('');
}

function splitTerms(joined: string): string[] {
  const terms: string[] = [];
  for (let start = 2; start <= joined.length; start += 2 + lengthBefore(joined, start)) {
    terms.push(joined.slice(start, start + lengthBefore(joined, start)));
  }
  return terms;
}

function termAt(joined: string, position: number): string {
  let start = 2;
  for (let skipped = 0; skipped < position; skipped++) start += 2 + lengthBefore(joined, start);
  return joined.slice(start, start + lengthBefore(joined, start));
}

const lengthBefore = (joined: string, start: number): number =>
  (joined.charCodeAt(start - 2) << 16) | joined.charCodeAt(start - 1);
