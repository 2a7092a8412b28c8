import { isOneEditAway } from '../../matching/text/one-edit.ts';
import { searchableWords } from '../../matching/searchable-words.ts';

/** A form of a keyword: a word that occurs, in how many texts, and what differs. */
export interface Variant {
  word: string;
  count: number;
  /** Follows “is “keyword””. */
  how: string;
}

/** A word that occurs in fewer texts may be an accident; a misspelling must occur more often. */
const LEAST_TEXTS = 2;
const LEAST_MISSPELT = 3;
/** Short words have too many neighbours. */
const SHORTEST_MISSPELT = 6;

/**
 * The words that are the keyword in another form: its plural or singular; its words written as one; one letter other.
 *
 * @param occurring words, folded as for matching, with the number of texts that have them
 */
export function variantsOf(keyword: string, occurring: readonly (readonly [string, number])[]): Variant[] {
  const words = searchableWords(keyword);
  const joined = words.join('');
  if (joined === '') return [];
  return occurring.flatMap(([word, count]) => {
    const how = count < LEAST_TEXTS ? undefined : difference(words, joined, word, count);
    return how === undefined ? [] : [{ word, count, how }];
  });
}

function difference(words: readonly string[], joined: string, word: string, count: number): string | undefined {
  if (words.length > 1) return word === joined ? 'in one word' : undefined;
  if (word === joined) return undefined;
  if (pluralsOf(joined).includes(word)) return 'in the plural';
  if (pluralsOf(word).includes(joined)) return 'in the singular';
  const isMisspelt = joined.length >= SHORTEST_MISSPELT && count >= LEAST_MISSPELT && isOneEditAway(joined, word);
  return isMisspelt ? 'with one letter other' : undefined;
}

function pluralsOf(word: string): string[] {
  const plain = [`${word}s`, `${word}es`];
  return word.endsWith('y') ? [...plain, `${word.slice(0, -1)}ies`] : plain;
}
