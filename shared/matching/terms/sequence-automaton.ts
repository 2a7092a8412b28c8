import type { FoundTerms } from './found-terms.ts';
import type { IntHeap } from './int-list.ts';
import { IntList } from './int-list.ts';
import { NODE_SIZE, NodeTable } from './address-table.ts';
import { isSymbolic, mayEndAt, SequenceTerms } from './sequence-terms.ts';
import { HYPHEN_SYMBOL, SPACE_SYMBOL } from '../text/text-reader.ts';
import type { TextReader } from '../text/text-reader.ts';

/** Integers of a node's record after those of NodeTable: the number of symbols from the root. */
const DEPTH = NODE_SIZE;
/** The first of the terms that end here, or 0. */
const TERM = NODE_SIZE + 1;
/** The longest proper suffix of the node's sequence that is a node. Valid only in EPOCH. */
const FAILURE = NODE_SIZE + 2;
/** The longest proper suffix at which terms end, or 0. Valid only in OUTPUT_EPOCH. */
const OUTPUT = NODE_SIZE + 3;
const EPOCH = NODE_SIZE + 4;
const OUTPUT_EPOCH = NODE_SIZE + 5;
const VISITED = NODE_SIZE + 6;
const SIZE = NODE_SIZE + 7;

/**
 * Finds terms that are more than words with spaces between them: terms with punctuation or symbols, and terms in
 * scripts without spaces. It is the automaton of Aho and Corasick (1975) over symbols, and a whole word is one symbol.
 * To allow adding and removing terms in place, the link from a node to its longest suffix is computed when a text first
 * needs it, and a change of the trie invalidates all links.
 *
 * In the loose automaton a hyphen and a space are one symbol. It holds the terms whose spaces may be hyphens.
 */
export class SequenceAutomaton {
  readonly #heap: IntHeap;
  readonly #nodes: NodeTable;
  readonly #terms: SequenceTerms;
  readonly #root: number;
  readonly #isLoose: boolean;
  /** IN_EXACT_SEQUENCE or IN_LOOSE_SEQUENCE. */
  readonly #role: number;
  #epoch = 1;
  readonly #pending: number[] = [];
  readonly #chain = new IntList();
  /**
   * The nodes whose terms were checked in this text, as a sparse set. For each: 1 if some of its terms were not found
   * yet, and the next node towards the root with such terms.
   */
  readonly #visited = new IntList();
  readonly #isOpen = new IntList();
  readonly #nextOpen = new IntList();

  constructor(heap: IntHeap, role: number, isLoose: boolean) {
    this.#heap = heap;
    this.#role = role;
    this.#isLoose = isLoose;
    this.#nodes = new NodeTable(heap, SIZE);
    this.#terms = new SequenceTerms(heap, isLoose);
    this.#root = this.#nodes.createRoot();
  }

  /** The term that the reader has read. It is created if it does not exist. */
  findOrAdd(reader: TextReader): number {
    const heap = this.#heap;
    let node = this.#root;
    for (let token = 0; token < reader.tokens.count; token++) {
      const symbol = this.#symbol(reader, token);
      let child = this.#nodes.child(node, symbol);
      if (child === 0) {
        child = this.#nodes.addChild(node, symbol);
        heap.set(child + DEPTH, token + 1);
        if (symbol > 0) {
          reader.words.addUses(symbol, 1);
          reader.words.addRole(symbol, this.#role);
        } else {
          reader.addCharacterRole(symbol, this.#role);
          if (symbol === SPACE_SYMBOL) reader.addCharacterRole(HYPHEN_SYMBOL, this.#role);
        }
      }
      node = child;
    }
    const first = this.#firstTerm(node);
    const found = this.#terms.find(first, reader);
    if (found !== 0) return found;
    this.#forgetLinks();
    const term = this.#terms.create(reader, first);
    heap.set(node + TERM, term);
    return term;
  }

  /** Removes the term that the reader has read, and all nodes that no longer lead to a term. */
  remove(term: number, reader: TextReader): void {
    let node = this.#nodeOf(reader);
    this.#forgetLinks();
    this.#heap.set(node + TERM, this.#terms.remove(this.#firstTerm(node), term));
    while (node !== this.#root && this.#firstTerm(node) === 0 && this.#nodes.isLeaf(node)) {
      const parent = this.#nodes.parent(node);
      const symbol = this.#nodes.symbol(node);
      if (symbol > 0) reader.words.addUses(symbol, -1);
      this.#nodes.remove(node);
      node = parent;
    }
  }

  /** Reports every term that occurs in the text that was read. @param text the number of the item's text */
  search(reader: TextReader, text: number, found: FoundTerms): void {
    for (const list of [this.#visited, this.#isOpen, this.#nextOpen]) list.clear();
    const root = this.#root;
    const roles = reader.roles.items;
    let node = root;
    // The longest suffix of symbols alone. Terms of symbols may end where other terms may not.
    let symbols = root;
    for (let token = 0; token < reader.tokens.count; token++) {
      if (((roles[token] ?? 0) & this.#role) === 0) {
        node = root;
        symbols = root;
        continue;
      }
      const symbol = this.#symbol(reader, token);
      const next = this.#step(node, symbol, reader);
      if (!isSymbolic(reader.tokens.kinds[token])) symbols = root;
      else symbols = symbols === node ? next : this.#step(symbols, symbol, reader);
      node = next;
      const last = mayEndAt(reader, token + 1) ? node : symbols;
      if (last !== root) this.#report(last, reader, text, token + 1, found);
    }
  }

  #firstTerm(node: number): number {
    return this.#heap.get(node + TERM);
  }

  /** The epoch has 32 bits and may wrap around. It is never 0, the epoch of a node without links. */
  #forgetLinks(): void {
    this.#epoch = (this.#epoch + 1) | 0 || 1;
  }

  #symbol(reader: TextReader, token: number): number {
    const symbol = reader.symbols.items[token] ?? 0;
    return this.#isLoose && symbol === HYPHEN_SYMBOL ? SPACE_SYMBOL : symbol;
  }

  #nodeOf(reader: TextReader): number {
    let node = this.#root;
    for (let token = 0; token < reader.tokens.count && node !== 0; token++) {
      node = this.#nodes.child(node, this.#symbol(reader, token));
    }
    return node;
  }

  #step(from: number, symbol: number, reader: TextReader): number {
    for (let node = from; ; node = this.#failure(node, reader)) {
      reader.steps++;
      const child = this.#nodes.child(node, symbol);
      if (child !== 0) return child;
      if (node === this.#root) return node;
    }
  }

  /** Checks the terms that end here, the longest first, as long as some of them were not found yet. */
  #report(node: number, reader: TextReader, text: number, end: number, found: FoundTerms): void {
    const first = this.#firstTerm(node) !== 0 ? node : this.#output(node, reader);
    for (let open = this.#firstOpen(first, reader); open !== 0;) {
      const start = end - this.#heap.get(open + DEPTH);
      let isOpen = false;
      for (let term = this.#firstTerm(open); term !== 0; term = this.#terms.next(term)) {
        reader.steps++;
        if (found.hasIn(term, 1 << text)) continue;
        if (this.#terms.mayStartAt(term, reader, start)) reader.report(found, term, text, start, end);
        else isOpen = true;
      }
      open = this.#markVisited(open, isOpen, reader);
    }
  }

  /** Records whether some terms of the node were not found yet in this text; returns the next node with such terms. */
  #markVisited(node: number, isOpen: boolean, reader: TextReader): number {
    let index = this.#indexOf(node);
    const next = this.#firstOpen(index < 0 ? this.#output(node, reader) : (this.#nextOpen.items[index] ?? 0), reader);
    if (index < 0) {
      index = this.#visited.length;
      this.#heap.set(node + VISITED, index);
      this.#visited.push(node);
      this.#isOpen.push(0);
      this.#nextOpen.push(0);
    }
    this.#isOpen.items[index] = isOpen ? 1 : 0;
    this.#nextOpen.items[index] = next;
    return next;
  }

  /** The node's index among the visited nodes, or -1 if its terms were not checked yet in this text. */
  #indexOf(node: number): number {
    const index = this.#heap.get(node + VISITED);
    return index < this.#visited.length && this.#visited.items[index] === node ? index : -1;
  }

  #isClosed(node: number): boolean {
    const index = node === 0 ? -1 : this.#indexOf(node);
    return index >= 0 && this.#isOpen.items[index] === 0;
  }

  /** The node itself or the next open node towards the root; compresses the path (union-find, Tarjan 1975). */
  #firstOpen(node: number, reader: TextReader): number {
    const next = this.#nextOpen.items;
    let open = node;
    while (this.#isClosed(open)) {
      reader.steps++;
      open = next[this.#indexOf(open)] ?? 0;
    }
    for (let passed = node; passed !== open;) {
      const index = this.#indexOf(passed);
      passed = next[index] ?? 0;
      next[index] = open;
    }
    return open;
  }

  #failure(node: number, reader: TextReader): number {
    if (!this.#isLinked(node)) this.#link(node, reader);
    return this.#heap.get(node + FAILURE);
  }

  #isLinked(node: number): boolean {
    return node === this.#root || this.#heap.get(node + EPOCH) === this.#epoch;
  }

  /** Links the node and all nodes that its link depends on. These are nearer to the root. */
  #link(node: number, reader: TextReader): void {
    const pending = this.#pending;
    pending.push(node);
    for (let top = pending.at(-1); top !== undefined; top = pending.at(-1)) {
      const needed = this.#tryToLink(top, reader);
      if (needed === 0) pending.pop();
      else pending.push(needed);
    }
  }

  /** Links the node and returns 0, or returns a node that must be linked first. */
  #tryToLink(node: number, reader: TextReader): number {
    const heap = this.#heap;
    const symbol = this.#nodes.symbol(node);
    const parent = this.#nodes.parent(node);
    let failure = this.#root;
    if (parent !== this.#root) {
      if (!this.#isLinked(parent)) return parent;
      for (let suffix = heap.get(parent + FAILURE); ; suffix = heap.get(suffix + FAILURE)) {
        reader.steps++;
        const child = this.#nodes.child(suffix, symbol);
        if (child !== 0) failure = child;
        if (child !== 0 || suffix === this.#root) break;
        if (!this.#isLinked(suffix)) return suffix;
      }
    }
    heap.set(node + FAILURE, failure);
    heap.set(node + EPOCH, this.#epoch);
    return 0;
  }

  /** The longest suffix at which terms end, or 0. Also stores it for all suffixes on the way. */
  #output(node: number, reader: TextReader): number {
    const heap = this.#heap;
    const chain = this.#chain;
    chain.clear();
    let output = node;
    while (heap.get(output + OUTPUT_EPOCH) !== this.#epoch) {
      reader.steps++;
      chain.push(output);
      output = this.#failure(output, reader);
      if (output === this.#root || this.#firstTerm(output) !== 0) break;
    }
    if (output === this.#root) output = 0;
    else if (this.#firstTerm(output) === 0 || chain.length === 0) output = heap.get(output + OUTPUT);
    for (let index = 0; index < chain.length; index++) {
      const visited = chain.items[index] ?? 0;
      heap.set(visited + OUTPUT, output);
      heap.set(visited + OUTPUT_EPOCH, this.#epoch);
    }
    return output;
  }
}
