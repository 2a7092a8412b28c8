import { CHARACTER_TOKEN, SPACE_TOKEN, WORD_TOKEN } from '../text/tokens.ts';
import type { Tokens } from '../text/tokens.ts';

/** Where a term is kept, by what it consists of. */
export type TermShape =
  /** One word. */
  | 'word'
  /** Words with spaces between, which may be hyphens in the text. */
  | 'phrase'
  /** Words with spaces, and symbols; the spaces may be hyphens. */
  | 'loose'
  /** Anything else, exactly as it is: words with punctuation but no spaces, symbols alone, scripts without spaces. */
  | 'exact';

/**
 * How a term matches, in the words of the rules: by whole words, with its punctuation, by character, or as symbols
 * anywhere.
 */
export type TermKind = 'word' | 'phrase' | 'punctuation' | 'characters' | 'symbols';

/** Whether one of the tokens is of this kind. */
export function hasKind({ kinds, count }: Tokens, kind: number): boolean {
  for (let at = 0; at < count; at++) if (kinds[at] === kind) return true;
  return false;
}

function isPhrase({ kinds, count }: Tokens): boolean {
  for (let at = 0; at < count; at++) if (kinds[at] !== (at % 2 === 0 ? WORD_TOKEN : SPACE_TOKEN)) return false;
  return true;
}

/** The shape of a keyword; undefined: nothing is left of it. */
export function shapeOf(tokens: Tokens): TermShape | undefined {
  if (tokens.count === 0) return undefined;
  if (isPhrase(tokens)) return tokens.count === 1 ? 'word' : 'phrase';
  const isLoose = hasKind(tokens, WORD_TOKEN) && !hasKind(tokens, CHARACTER_TOKEN) && hasKind(tokens, SPACE_TOKEN);
  return isLoose ? 'loose' : 'exact';
}

export function kindOf(tokens: Tokens): TermKind | undefined {
  const shape = shapeOf(tokens);
  if (shape !== 'loose' && shape !== 'exact') return shape;
  if (hasKind(tokens, CHARACTER_TOKEN)) return 'characters';
  return hasKind(tokens, WORD_TOKEN) ? 'punctuation' : 'symbols';
}
