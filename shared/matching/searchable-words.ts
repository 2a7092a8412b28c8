import { FoldedText } from './text/folded-text.ts';
import { CHARACTER_TOKEN, Tokens, WORD_TOKEN } from './text/tokens.ts';

/**
 * The words of a text, and its characters of scripts without spaces, as matching compares them, each once, in the order
 * in which they come. A text in which a term occurs has all searchable words of the term: an index of them finds every
 * candidate, and some more.
 */
export function searchableWords(text: string): string[] {
  const folded = new FoldedText();
  folded.fold(text);
  const tokens = new Tokens();
  tokens.read(folded.units, 0, folded.length);
  const whole = folded.toString();
  const words = new Set<string>();
  for (let at = 0; at < tokens.count; at++) {
    const kind = tokens.kinds[at];
    if (kind !== WORD_TOKEN && kind !== CHARACTER_TOKEN) continue;
    words.add(whole.slice(tokens.starts.items[at], tokens.starts.items[at + 1]));
  }
  return [...words];
}
