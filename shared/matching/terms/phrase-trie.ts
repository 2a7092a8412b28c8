import { isHeld, TERM_SIZE } from './found-terms.ts';
import type { FoundTerms } from './found-terms.ts';
import type { IntHeap } from '../tables/int-heap.ts';
import { NODE_SIZE, NodeTable } from '../tables/node-table.ts';
import { isGap } from '../text/text-reader.ts';
import type { TextReader } from '../text/text-reader.ts';
import { BEGINS_PHRASES } from '../tables/word-table.ts';

/** The term that ends at a node is part of its record. */
const TERM = NODE_SIZE;
const SIZE = NODE_SIZE + TERM_SIZE;

/**
 * Terms that are words with spaces between them. From each word of a text that begins a phrase one way is followed, as
 * long as whitespace or a single hyphen stands between known words: at most the 50 words of the longest keyword, of at
 * least two characters each. A phrase's first word has no node: less than 0, its address is the parent of the nodes
 * that follow.
 */
export class PhraseTrie {
  readonly #heap: IntHeap;
  readonly #nodes: NodeTable;

  constructor(heap: IntHeap) {
    this.#heap = heap;
    this.#nodes = new NodeTable(heap, SIZE);
  }

  get bytes(): number {
    return this.#nodes.bytes;
  }

  /** The term that the reader has read, made with what leads to it. Held by nobody, it is in no text. */
  findOrAdd({ words, tokens, symbols }: TextReader): number {
    let node = -(symbols.items[0] ?? 0);
    for (let at = 2; at < tokens.count; at += 2) {
      const word = symbols.items[at] ?? 0;
      let child = this.#nodes.child(node, word);
      if (child === 0) {
        child = this.#nodes.addChild(node, word);
        words.addUses(word, 1);
        if (node < 0) {
          words.addUses(-node, 1);
          words.addRole(-node, BEGINS_PHRASES);
        }
      }
      node = child;
    }
    return node + TERM;
  }

  /** The term that the reader has read; 0: there is none. */
  find({ tokens, symbols }: TextReader): number {
    let node = -(symbols.items[0] ?? 0);
    for (let at = 2; at < tokens.count && node !== 0; at += 2) node = this.#nodes.child(node, symbols.items[at] ?? 0);
    return node !== 0 && isHeld(this.#heap, node + TERM) ? node + TERM : 0;
  }

  /** Forgets the term, which nobody holds any more, and all nodes that lead nowhere without it. */
  remove(term: number, { words }: TextReader): void {
    let node = term - TERM;
    while (node > 0 && !isHeld(this.#heap, node + TERM) && this.#nodes.isLeaf(node)) {
      const parent = this.#nodes.parent(node);
      words.addUses(this.#nodes.symbol(node), -1);
      if (parent < 0) words.addUses(-parent, -1);
      this.#nodes.remove(node);
      node = parent;
    }
  }

  /** Reports every phrase that begins at the word at `start`. */
  search(reader: TextReader, start: number, field: number, found: FoundTerms): void {
    const symbols = reader.symbols.items;
    const { count } = reader.tokens;
    let node = -(symbols[start] ?? 0);
    for (let at = start + 2; at < count; at += 2) {
      const word = symbols[at] ?? 0;
      if (word <= 0 || !isGap(symbols[at - 1] ?? 0)) return;
      reader.steps++;
      node = this.#nodes.child(node, word);
      if (node === 0) return;
      if (isHeld(this.#heap, node + TERM) && !reader.isSignedLetter(at + 1)) {
        reader.report(found, node + TERM, field, start, at + 1);
      }
    }
  }
}
