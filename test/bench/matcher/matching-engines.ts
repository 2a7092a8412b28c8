import AhoCorasick from 'ahocorasick';
import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import { TermIndex } from '../../../shared/matching/terms/term-index.ts';
import { commentOf } from '../shared/matcher-items.ts';
import { unfilteredRule } from '../shared/matcher-monitors.ts';

export type EngineName = 'ours' | 'ahocorasick';

/** An engine that finds terms in texts. */
export interface Engine {
  /** Finds the terms that are whole words of each text, each once per text; returns their number. */
  scan: () => number;
  /** A search with more or less detail. Returns the number of results, so that nothing can be optimized away. */
  other: () => number;
}

const TERMS_PER_MONITOR = 20;

export const BUILD: Record<EngineName, (terms: readonly string[], texts: readonly string[]) => Engine> = {
  ours: buildOurs,
  ahocorasick: buildAhoCorasick,
};

/**
 * Searches the terms alone like the other engines. The second search uses the monitors that have the terms, and returns
 * terms and positions.
 */
function buildOurs(terms: readonly string[], texts: readonly string[]): Engine {
  const index = new MonitorIndex();
  for (let first = 0; first < terms.length; first += TERMS_PER_MONITOR) {
    index.set(`m${first / TERMS_PER_MONITOR}`, unfilteredRule(terms.slice(first, first + TERMS_PER_MONITOR)));
  }
  let termIndex: TermIndex | undefined;
  const scan = () => {
    termIndex ??= termIndexOf(terms);
    let hits = 0;
    for (const text of texts) {
      termIndex.begin();
      termIndex.search(text, 1);
      hits += termIndex.found.terms.length;
    }
    return hits;
  };
  const monitors = () => {
    let hits = 0;
    for (const text of texts) for (const { matchedTerms } of index.match(commentOf(text))) hits += matchedTerms.length;
    return hits;
  };
  return { scan, other: monitors };
}

function termIndexOf(terms: readonly string[]): TermIndex {
  const index = new TermIndex();
  for (const term of terms) index.acquire(term);
  return index;
}

/** The package finds substrings, also repeatedly. This filters the whole words. */
function buildAhoCorasick(terms: readonly string[], texts: readonly string[]): Engine {
  const automaton = new AhoCorasick(terms);
  const scan = () => {
    let sum = 0;
    for (const text of texts) {
      const found = new Set<string>();
      for (const [last, words] of automaton.search(text)) {
        for (const word of words) if (isWholeWord(text, last + 1 - word.length, last + 1)) found.add(word);
      }
      sum += found.size;
    }
    return sum;
  };
  const substringsOnly = () => {
    let hits = 0;
    for (const text of texts) hits += automaton.search(text).length;
    return hits;
  };
  return { scan, other: substringsOnly };
}

const IS_WORD_CHARACTER = Array.from({ length: 128 }, (_, code) => /[a-z0-9]/.test(String.fromCharCode(code)));

/** Beyond the ends of the text there is no code unit. */
function isWholeWord(text: string, start: number, end: number): boolean {
  return !IS_WORD_CHARACTER[text.charCodeAt(start - 1)] && !IS_WORD_CHARACTER[text.charCodeAt(end)];
}
