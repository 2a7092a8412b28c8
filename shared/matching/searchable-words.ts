import { FoldedText } from './text/folded-text.ts';
import { CHARACTER_TOKEN, Tokens, WORD_TOKEN } from './text/tokens.ts';

/**
 * The distinct words of a text and its characters of scripts without spaces, folded as for matching, in the order of
 * the text. A text in which a term occurs has all searchable words of the term, so an index of them finds every
 * candidate and some others.
 */
export function searchableWords(text: string): string[] {
  const folded = new FoldedText();
  folded.fold(text);
  const tokens = new Tokens();
  tokens.read(folded.units, 0, folded.length);
  const whole = folded.toString();
  const words = new Set<string>();
  for (let token = 0; token < tokens.count; token++) {
    const kind = tokens.kinds[token];
    if (kind !== WORD_TOKEN && kind !== CHARACTER_TOKEN) continue;
    words.add(whole.slice(tokens.starts.items[token], tokens.starts.items[token + 1]));
  }
  return [...words];
}
