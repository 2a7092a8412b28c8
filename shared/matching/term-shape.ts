import { CHARACTER_TOKEN, SPACE_TOKEN, WORD_TOKEN } from './tokens.ts';
import type { Tokens } from './tokens.ts';

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

/** How a term matches, in the words of the rules: by whole words, with its punctuation, by character, or as symbols anywhere. */
export type TermKind = 'word' | 'phrase' | 'punctuation' | 'characters' | 'symbols';

/** The shape of a keyword; undefined: nothing is left of it. */
export function shapeOf(tokens: Tokens): TermShape | undefined {
  const kinds = tokens.kinds.subarray(0, tokens.count);
  if (tokens.count === 0) return undefined;
  if (kinds.every((kind, at) => kind === (at % 2 === 0 ? WORD_TOKEN : SPACE_TOKEN))) {
    return tokens.count === 1 ? 'word' : 'phrase';
  }
  const isLoose = kinds.includes(WORD_TOKEN) && !kinds.includes(CHARACTER_TOKEN) && kinds.includes(SPACE_TOKEN);
  return isLoose ? 'loose' : 'exact';
}

export function kindOf(tokens: Tokens): TermKind | undefined {
  const shape = shapeOf(tokens);
  if (shape !== 'loose' && shape !== 'exact') return shape;
  const kinds = tokens.kinds.subarray(0, tokens.count);
  if (kinds.includes(CHARACTER_TOKEN)) return 'characters';
  return kinds.includes(WORD_TOKEN) ? 'punctuation' : 'symbols';
}
