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
 * conditions, the record also has GROUPS, the postings are conditional and those of the keywords are followed by those
 * of `terms`, and at the end there are the groups of `require`: for each the number of its terms, then for each of them
 * the term and the texts in which it counts.
 */
const OWNER = 0;
export const HITS = 1;
/** Bits of the filters, then those below. */
const FILTER = 2;
/** The address of its terms as written: those of the postings, then those of the groups, then the excluded ones. */
const WRITTEN = 3;
const POSTINGS = 4;
const EXCLUDES = 5;
const TERMS = 6;
/** The number of integers that its groups take. */
const GROUPS = 6;
const CONDITIONAL_TERMS = 7;
/** The integers of a term of a group. */
const GROUP_TERM = 2;

const IS_CONDITIONAL = 1 << FILTER_BITS;
/** Excluded terms are searched in the title of a comment's post as well. */
const EXCLUDES_IN_POST_TITLE = 2 << FILTER_BITS;

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
   */
  create(rule: Rule, bits: number): number {
    const { groups, isPlain, excludeTexts } = ruleTerms(rule);
    const [wanted = [], ...required] = groups.map((group) => this.#acquire(group));
    const exclude = this.#acquire(rule.exclude.map((written) => ({ written, options: {}, texts: ALL_TEXTS })));
    const record = isPlain ? this.#createPlain(wanted, exclude) : this.#createConditional(wanted, required, exclude);
    const heap = this.#heap;
    const seesPostTitle = (excludeTexts & POST_TITLE) !== 0;
    if (seesPostTitle) this.#seesPostTitle++;
    heap.set(record + FILTER, bits | (isPlain ? 0 : IS_CONDITIONAL) | (seesPostTitle ? EXCLUDES_IN_POST_TITLE : 0));
    const terms = [...wanted, ...required.flat(), ...exclude].map(({ term }) => term);
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
    const size = isConditional ? CONDITIONAL_POSTING : POSTING;
    const first = this.#firstPosting(record);
    const excludes = this.#firstExclude(record);
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
    const groups = excludes + heap.get(record + EXCLUDES);
    heap.free(record, groups - record + (isConditional ? heap.get(record + GROUPS) : 0));
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

  /** Whether the item has a term of each group. @returns the steps of the search, negative if it has not */
  requiredSteps(record: number): number {
    if (!this.isConditional(record)) return 0;
    const heap = this.#heap;
    let steps = 0;
    let group = this.#firstExclude(record) + heap.get(record + EXCLUDES);
    const end = group + heap.get(record + GROUPS);
    while (group < end) {
      const next = group + 1 + GROUP_TERM * heap.get(group);
      let term = group + 1;
      for (; term < next; term += GROUP_TERM) {
        steps++;
        if (this.#terms.found.hasIn(heap.get(term), heap.get(term + 1))) break;
      }
      // A group without terms is never met; it has cost a step as well.
      if (term === next) return -Math.max(steps, 1);
      group = next;
    }
    return steps;
  }

  /** Whether the item has an excluded term. @returns the steps of the search, negative if it has one */
  excludedSteps(record: number): number {
    const heap = this.#heap;
    const bits = heap.get(record + FILTER);
    const texts = (bits & EXCLUDES_IN_POST_TITLE) === 0 ? USUAL_TEXTS : ALL_TEXTS;
    const first = this.#firstExclude(record);
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

  #firstExclude(record: number): number {
    const size = this.isConditional(record) ? CONDITIONAL_POSTING : POSTING;
    return this.#firstPosting(record) + size * this.#heap.get(record + POSTINGS);
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

  #createConditional(
    wanted: readonly AcquiredTerm[],
    required: readonly (readonly AcquiredTerm[])[],
    exclude: readonly AcquiredTerm[],
  ): number {
    const heap = this.#heap;
    const groups = required.length + GROUP_TERM * required.flat().length;
    const record = heap.allocate(CONDITIONAL_TERMS + CONDITIONAL_POSTING * wanted.length + exclude.length + groups);
    heap.set(record + POSTINGS, wanted.length);
    heap.set(record + GROUPS, groups);
    let posting = record + CONDITIONAL_TERMS;
    for (const { address, term } of wanted) {
      linkConditional(heap, posting, record, address, term.texts);
      posting += CONDITIONAL_POSTING;
    }
    this.#setExcludes(record, posting, exclude);
    this.#setGroups(posting + exclude.length, required);
    return record;
  }

  #setExcludes(record: number, first: number, exclude: readonly AcquiredTerm[]): void {
    this.#heap.set(record + EXCLUDES, exclude.length);
    let address = first;
    for (const term of exclude) this.#heap.set(address++, term.address);
  }

  #setGroups(first: number, required: readonly (readonly AcquiredTerm[])[]): void {
    const heap = this.#heap;
    let group = first;
    for (const terms of required) {
      heap.set(group++, terms.length);
      for (const { address, term } of terms) {
        heap.set(group, address);
        heap.set(group + 1, term.texts);
        group += GROUP_TERM;
      }
    }
  }
}

interface AcquiredTerm {
  /** In the heap. */
  readonly address: number;
  readonly term: WatchedTerm;
}
