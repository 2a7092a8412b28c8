import { FILTER_BITS } from './item-filter.ts';
import { IntHeap } from './tables/int-heap.ts';
import { PackedStrings } from './tables/packed-strings.ts';
import {
  CONDITIONAL_POSTING,
  link,
  linkConditional,
  POSTING,
  unlink,
  unlinkConditional,
} from './terms/monitor-postings.ts';
import type { TermIndex } from './terms/term-index.ts';
import { packTerm, ruleTerms, unpackTerm } from './rule-terms.ts';
import type { WatchedTerm } from './rule-terms.ts';
import type { Rule } from './rule.ts';
import { ALL_TEXTS, POST_TITLE, USUAL_TEXTS } from './text/item-texts.ts';

/**
 * A monitor's record: these integers, then a posting for each keyword, then the term of each exclude. If the rule has
 * conditions, the record also has GROUPS, and a conditional posting for each keyword, each term, and each term of
 * `require`, in this order.
 */
const OWNER = 0;
export const HITS = 1;
/** Bits of the filters, then those below. */
const FILTER = 2;
/** The address of its terms as written: those of the postings, then the excluded ones. */
const WRITTEN = 3;
const POSTINGS = 4;
const EXCLUDES = 5;
const TERMS = 6;
/** A bit for each group of which the item has a term. Valid only for monitors that were hit in this item. */
const GROUPS = 6;
const CONDITIONAL_TERMS = 7;

const IS_CONDITIONAL = 1 << FILTER_BITS;
/** Excluded terms are searched in the title of a comment's post as well. */
const EXCLUDES_IN_POST_TITLE = 2 << FILTER_BITS;
/** Above this, a bit for each group of the rule. */
const GROUPS_SHIFT = FILTER_BITS + 2;
/** More do not fit into the bits of the filter. */
const MAX_GROUPS = 32 - GROUPS_SHIFT;

/** The records of monitors, and the terms that they hold. */
export class MonitorRecords {
  readonly #terms: TermIndex;
  readonly #heap: IntHeap;
  readonly #texts = new IntHeap();
  readonly #written = new PackedStrings(this.#texts);
  /** The number of rules that search the titles of comments' posts. */
  #seesPostTitle = 0;

  constructor(terms: TermIndex) {
    this.#terms = terms;
    this.#heap = terms.heap;
  }

  /** The bytes of the terms as written. */
  get textBytes(): number {
    return this.#texts.bytes;
  }

  /** Whether the title of a comment's post must be searched. */
  get searchesPostTitles(): boolean {
    return this.#seesPostTitle > 0;
  }

  /**
   * Creates a record. Ignores terms that have nothing to search for, and terms that equal an earlier term of their
   * group.
   *
   * @param bits of the filters
   * @throws RangeError if the rule has more than 24 groups
   */
  create(rule: Rule, bits: number): number {
    const { groups, isPlain, excludeTexts } = ruleTerms(rule);
    if (groups.length > MAX_GROUPS) throw new RangeError(`a rule has ${groups.length - 1} groups of required terms`);
    const acquired = groups.map((group) => this.#acquire(group));
    const exclude = this.#acquire(rule.exclude.map((written) => ({ written, options: {}, texts: ALL_TEXTS })));
    const record = isPlain ? this.#createPlain(acquired[0] ?? [], exclude) : this.#createConditional(acquired, exclude);
    const heap = this.#heap;
    const seesPostTitle = (excludeTexts & POST_TITLE) !== 0;
    if (seesPostTitle) this.#seesPostTitle++;
    const conditions = IS_CONDITIONAL | (((1 << groups.length) - 1) << GROUPS_SHIFT);
    heap.set(record + FILTER, bits | (isPlain ? 0 : conditions) | (seesPostTitle ? EXCLUDES_IN_POST_TITLE : 0));
    const terms = [...acquired.flat(), ...exclude].map(({ term }) => term);
    heap.set(record + WRITTEN, this.#written.add(terms.map(isPlain ? ({ written }) => written : packTerm)));
    return record;
  }

  /** Sets the number that its owner has in other lists. */
  setOwner(record: number, owner: number): void {
    this.#heap.set(record + OWNER, owner);
  }

  /** Removes a record and its references to terms. */
  discard(record: number): void {
    const heap = this.#heap;
    const isConditional = this.isConditional(record);
    const count = heap.get(record + POSTINGS);
    const size = isConditional ? CONDITIONAL_POSTING : POSTING;
    const first = this.#firstPosting(record);
    const excludes = first + size * count;
    if ((heap.get(record + FILTER) & EXCLUDES_IN_POST_TITLE) !== 0) this.#seesPostTitle--;
    for (let posting = first; posting < excludes; posting += size) {
      if (isConditional) unlinkConditional(heap, posting);
      else unlink(heap, posting);
    }
    const written = heap.get(record + WRITTEN);
    for (const packed of this.#written.all(written)) {
      if (!isConditional) this.#terms.release(packed);
      else {
        const term = unpackTerm(packed);
        this.#terms.release(term.written, term.options);
      }
    }
    this.#written.remove(written);
    heap.free(record, excludes - record + heap.get(record + EXCLUDES));
  }

  owner(record: number): number {
    return this.#heap.get(record + OWNER);
  }

  /** The bits of the filters, and others above them. */
  filterBits(record: number): number {
    return this.#heap.get(record + FILTER);
  }

  /** Whether the record has conditional postings. */
  isConditional(record: number): boolean {
    return (this.#heap.get(record + FILTER) & IS_CONDITIONAL) !== 0;
  }

  /** Notes that the item has a term of this group. @param isFirst whether it is the monitor's first hit in the item */
  hitGroup(record: number, group: number, isFirst: boolean): void {
    const groups = isFirst ? 0 : this.#heap.get(record + GROUPS);
    this.#heap.set(record + GROUPS, groups | (1 << group));
  }

  /** Whether a monitor with conditional postings was hit by each of its groups. */
  hasAllGroups(record: number): boolean {
    return this.#heap.get(record + FILTER) >>> GROUPS_SHIFT === this.#heap.get(record + GROUPS);
  }

  /** Whether the item has an excluded term. @returns the steps of the search, negative if it has one */
  excludedSteps(record: number): number {
    const heap = this.#heap;
    const bits = heap.get(record + FILTER);
    const size = (bits & IS_CONDITIONAL) === 0 ? POSTING : CONDITIONAL_POSTING;
    const texts = (bits & EXCLUDES_IN_POST_TITLE) === 0 ? USUAL_TEXTS : ALL_TEXTS;
    const first = this.#firstPosting(record) + size * heap.get(record + POSTINGS);
    const end = first + heap.get(record + EXCLUDES);
    for (let address = first; address < end; address++) {
      if (this.#terms.found.hasIn(heap.get(address), texts)) return first - address - 1;
    }
    return end - first;
  }

  /** The term of a posting of this monitor, as its owner wrote it. */
  writtenTerm(record: number, posting: number): string {
    const offset = posting - this.#firstPosting(record);
    const written = this.#heap.get(record + WRITTEN);
    if (!this.isConditional(record)) return this.#written.get(written, offset / POSTING);
    return unpackTerm(this.#written.get(written, offset / CONDITIONAL_POSTING)).written;
  }

  #firstPosting(record: number): number {
    return record + (this.isConditional(record) ? CONDITIONAL_TERMS : TERMS);
  }

  #acquire(group: readonly WatchedTerm[]): AcquiredTerm[] {
    const acquired: AcquiredTerm[] = [];
    for (const term of group) {
      const address = this.#terms.acquire(term.written, term.options);
      if (address === 0) continue;
      if (acquired.some((other) => other.address === address && other.term.texts === term.texts)) {
        this.#terms.release(term.written, term.options);
      } else acquired.push({ address, term });
    }
    return acquired;
  }

  #createPlain(keywords: readonly AcquiredTerm[], exclude: readonly AcquiredTerm[]): number {
    const heap = this.#heap;
    const record = heap.allocate(TERMS + POSTING * keywords.length + exclude.length);
    heap.set(record + POSTINGS, keywords.length);
    let posting = record + TERMS;
    for (const { address } of keywords) {
      link(heap, posting, record, address);
      posting += POSTING;
    }
    this.#setExcludes(record, posting, exclude);
    return record;
  }

  #createConditional(groups: readonly (readonly AcquiredTerm[])[], exclude: readonly AcquiredTerm[]): number {
    const heap = this.#heap;
    const count = groups.flat().length;
    const record = heap.allocate(CONDITIONAL_TERMS + CONDITIONAL_POSTING * count + exclude.length);
    heap.set(record + POSTINGS, count);
    let posting = record + CONDITIONAL_TERMS;
    for (const [group, terms] of groups.entries()) {
      for (const { address, term } of terms) {
        linkConditional(heap, posting, record, address, { texts: term.texts, group });
        posting += CONDITIONAL_POSTING;
      }
    }
    this.#setExcludes(record, posting, exclude);
    return record;
  }

  #setExcludes(record: number, first: number, exclude: readonly AcquiredTerm[]): void {
    this.#heap.set(record + EXCLUDES, exclude.length);
    let address = first;
    for (const term of exclude) this.#heap.set(address++, term.address);
  }
}

interface AcquiredTerm {
  /** In the heap. */
  readonly address: number;
  readonly term: WatchedTerm;
}
