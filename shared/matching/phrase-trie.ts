import type { FoundTerms } from './found-terms.ts';
import type { IntHeap } from './int-heap.ts';
import { NodeTable } from './node-table.ts';
import { isGap } from './text-reader.ts';
import type { TextReader } from './text-reader.ts';

/**
 * Terms that are words with spaces between them. From each word of a text that begins a phrase one way is followed, as long as
 * whitespace or a single hyphen stands between known words: at most the 50 words of the longest keyword, of at least
 * two characters each. A phrase's first word has no node: less than 0, its address is the parent of the nodes that follow.
 */
export class PhraseTrie {
  readonly #nodes: NodeTable;

  constructor(heap: IntHeap) {
    this.#nodes = new NodeTable(heap);
  }

  get bytes(): number {
    return this.#nodes.bytes;
  }

  /** The node of the phrase that the reader has read, made with what leads to it. */
  findOrAdd({ words, tokens, symbols }: TextReader): number {
    let node = -(symbols.items[0] ?? 0);
    for (let at = 2; at < tokens.count; at += 2) {
      const word = symbols.items[at] ?? 0;
      let child = this.#nodes.child(node, word);
      if (child === 0) {
        child = this.#nodes.addChild(node, word);
        words.addUses(word, 1);
        if (node < 0) words.addPhrases(-node, 1);
      }
      node = child;
    }
    return node;
  }

  /** The node of the phrase that the reader has read; 0: there is none. */
  find({ tokens, symbols }: TextReader): number {
    let node = -(symbols.items[0] ?? 0);
    for (let at = 2; at < tokens.count && node !== 0; at += 2) node = this.#nodes.child(node, symbols.items[at] ?? 0);
    return node;
  }

  term(node: number): number {
    return this.#nodes.term(node);
  }

  setTerm(node: number, term: number): void {
    this.#nodes.setTerm(node, term);
  }

  /** Takes away the node and all before it that lead nowhere any more. */
  removeUnused(node: number, { words }: TextReader): void {
    while (node > 0 && this.#nodes.isUnused(node)) {
      const parent = this.#nodes.parent(node);
      words.addUses(this.#nodes.symbol(node), -1);
      if (parent < 0) words.addPhrases(-parent, -1);
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
      const term = this.#nodes.term(node);
      if (term !== 0 && !reader.isSignedLetter(at + 1)) reader.report(found, term, field, start, at + 1);
    }
  }
}
