import { FoldedText } from './text/folded-text.ts';
import { CHARACTER_TOKEN, Tokens, WORD_TOKEN } from './text/tokens.ts';

/**
 * The distinct words of a term and its characters of scripts without spaces, folded as for matching, in its order. A
 * text in which the term occurs has all of them among `wordsOfText`, so an index of those finds every candidate and
 * some others. A word with an elided one (l'IA) is one word: texts have it that were indexed before it was two.
 */
export function searchableWords(term: string): string[] {
  return [...words(term, false)];
}

/** The same of a text. It also has the words after elided ones by themselves. */
export function wordsOfText(text: string): string[] {
  return [...words(text, true)];
}

/** In code units. The memory for a longer text, up to 30 bytes a unit, is not kept for the next one. */
const LONGEST_KEPT = 50_000;

const newReader = () => ({ folded: new FoldedText(), tokens: new Tokens() });
const kept = newReader();

function words(text: string, splitsElisions: boolean): Set<string> {
  const { folded, tokens } = text.length > LONGEST_KEPT ? newReader() : kept;
  folded.fold(text);
  tokens.read(folded.units, 0, folded.length);
  const units = folded.toString();
  const starts = tokens.starts.items;
  const found = new Set<string>();
  for (let token = 0; token < tokens.count; token++) {
    const kind = tokens.kinds[token];
    if (kind !== WORD_TOKEN && kind !== CHARACTER_TOKEN) continue;
    const first = token;
    const isElided = tokens.isElided(token, folded.units);
    if (isElided && !splitsElisions) token++;
    found.add(units.slice(starts[first], starts[isElided ? first + 2 : first + 1]));
  }
  return found;
}
