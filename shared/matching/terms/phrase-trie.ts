import { isReferenced, TERM_SIZE } from './found-terms.ts';
import type { FoundTerms } from './found-terms.ts';
import type { IntHeap } from './int-list.ts';
import { NODE_SIZE, NodeTable } from './node-table.ts';
import { isGap } from '../text/text-reader.ts';
import type { TextReader } from '../text/text-reader.ts';
import { BEGINS_PHRASES } from './word-table.ts';

/** The term that ends at a node is part of the node's record. */
const TERM = NODE_SIZE;
const SIZE = NODE_SIZE + TERM_SIZE;

/**
 * Finds terms that are words with spaces between them. From each word of a text that begins a phrase, the search
 * follows one path as long as whitespace or a single hyphen separates known words: at most 50 words, since each word of
 * a keyword takes at least two of its 100 characters. A phrase's first word has no node. Its negative address is the
 * parent of the nodes that follow.
 */
export class PhraseTrie {
  readonly #heap: IntHeap;
  readonly #nodes: NodeTable;

  constructor(heap: IntHeap) {
    this.#heap = heap;
    this.#nodes = new NodeTable(heap, SIZE);
  }

  /** Creates the term if it does not exist. The search does not report it until a rule references it. */
  findOrAdd({ words, tokens, symbols }: TextReader): number {
    let node = -(symbols.items[0] ?? 0);
    for (let token = 2; token < tokens.count; token += 2) {
      const word = symbols.items[token] ?? 0;
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

  /** Removes the term, which no rule references any more, and all nodes that lead to no other term. */
  remove(term: number, { words }: TextReader): void {
    let node = term - TERM;
    while (node > 0 && !isReferenced(this.#heap, node + TERM) && this.#nodes.isLeaf(node)) {
      const parent = this.#nodes.parent(node);
      words.addUses(this.#nodes.symbol(node), -1);
      if (parent < 0) words.addUses(-parent, -1);
      this.#nodes.remove(node);
      node = parent;
    }
  }

  /** Reports every phrase that begins at the word at `start`. @param text the number of the item's text */
  search(reader: TextReader, start: number, text: number, found: FoundTerms): void {
    const symbols = reader.symbols.items;
    const { count } = reader.tokens;
    let node = -(symbols[start] ?? 0);
    for (let token = start + 2; token < count; token += 2) {
      const word = symbols[token] ?? 0;
      if (word <= 0 || !isGap(symbols[token - 1] ?? 0)) return;
      reader.steps++;
      node = this.#nodes.child(node, word);
      if (node === 0) return;
      if (isReferenced(this.#heap, node + TERM) && !reader.isSignedLetter(token + 1)) {
        reader.report(found, node + TERM, text, start, token + 1);
      }
    }
  }
}
