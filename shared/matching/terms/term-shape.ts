import { CHARACTER_TOKEN, SPACE_TOKEN, WORD_TOKEN } from '../text/tokens.ts';
import type { Tokens } from '../text/tokens.ts';

/** The structure that stores a term, by what it consists of. */
export type TermShape =
  /** One word. */
  | 'word'
  /** Words separated by spaces, which may be hyphens in the text. */
  | 'phrase'
  /** Words with spaces, and symbols; the spaces may be hyphens. */
  | 'loose'
  /**
   * Everything else, which must occur exactly: words with punctuation but no spaces, symbols, scripts without spaces.
   */
  | 'exact';

/** How a term matches, in the terms of the rules: by whole words, with its punctuation, by character, or as symbols. */
export type TermKind = 'word' | 'phrase' | 'punctuation' | 'characters' | 'symbols';

/** Whether one of the tokens is of this kind. */
export function hasKind({ kinds, count }: Tokens, kind: number): boolean {
  for (let token = 0; token < count; token++) if (kinds[token] === kind) return true;
  return false;
}

function isPhrase({ kinds, count }: Tokens): boolean {
  for (let token = 0; token < count; token++)
    if (kinds[token] !== (token % 2 === 0 ? WORD_TOKEN : SPACE_TOKEN)) return false;
  return true;
}

/** The shape of a keyword, or undefined if it has no tokens. */
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
