import { TermIndex } from './term-index.ts';

/**
 * Decides whether all given terms occur in a text, by the rules of keywords. Ignores terms with nothing to search for.
 */
export class TermFinder {
  readonly #index = new TermIndex();
  readonly #terms: number[];

  constructor(terms: readonly string[]) {
    this.#terms = terms.map((term) => this.#index.acquire(term)).filter((term) => term !== 0);
  }

  allOccurIn(text: string): boolean {
    this.#index.begin();
    this.#index.search(text, 0);
    return this.#terms.every((term) => this.#index.found.has(term));
  }
}
