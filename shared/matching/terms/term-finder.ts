import { TermIndex } from './term-index.ts';

/**
 * Tells of texts whether all of some terms occur in them, by the rules of keywords. Terms that hold nothing to search
 * for are ignored.
 */
export class TermFinder {
  readonly #index = new TermIndex();
  readonly #terms: number[];

  constructor(terms: readonly string[]) {
    this.#terms = terms.map((term) => this.#index.hold(term)).filter((term) => term !== 0);
  }

  occurIn(text: string): boolean {
    this.#index.begin();
    this.#index.search(text, 0);
    return this.#terms.every((term) => this.#index.found.has(term));
  }
}
