import { wordsOfText } from '../../matching/searchable-words.ts';

/** So many matches are compared, the first that are added. */
const MOST_MATCHES = 1_000;
/** Longer texts are cut: one text must not decide what stands out. */
const MOST_CHARACTERS = 4_000;

/** In how many texts each word occurs. */
export interface WordCounts {
  texts: number;
  counts: ReadonlyMap<string, number>;
}

/** Counts the words of matches. */
export class MatchWords implements WordCounts {
  texts = 0;
  readonly #counts = new Map<string, number>();

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Ignored beyond MOST_MATCHES. */
  add({ kind, title, body }: { kind: 'post' | 'comment'; title: string; body: string }): void {
    if (this.texts >= MOST_MATCHES) return;
    this.texts += 1;
    const text = kind === 'post' ? `${title}\n${body}` : body;
    for (const word of wordsOfText(text.slice(0, MOST_CHARACTERS))) {
      this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
    }
  }
}
