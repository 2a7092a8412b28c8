import { CHARACTER_TOKEN, SPACE_TOKEN, SYMBOL_TOKEN, WORD_TOKEN } from '../text/tokens.ts';
import type { Tokens } from '../text/tokens.ts';

/** The structure that stores a term, by what it consists of. */
export type TermShape =
  | 'prefix'
  | 'word'
  /** Words separated by spaces, which may be hyphens in the text. */
  | 'phrase'
  /** Words with spaces, and symbols; the spaces may be hyphens. */
  | 'loose'
  /** Everything else, which must occur exactly. */
  | 'exact';

/** How a term matches, in the terms of the rules. */
export type TermKind = 'word' | 'prefix' | 'phrase' | 'punctuation' | 'characters' | 'symbols';

export function hasKind({ kinds, count }: Tokens, kind: number): boolean {
  for (let token = 0; token < count; token++) if (kinds[token] === kind) return true;
  return false;
}

function isPhrase({ kinds, count }: Tokens): boolean {
  for (let token = 0; token < count; token++)
    if (kinds[token] !== (token % 2 === 0 ? WORD_TOKEN : SPACE_TOKEN)) return false;
  return true;
}

export const MIN_PREFIX_LENGTH = 3;

/** The shape of a keyword, or undefined if it has no tokens. @param isPrefix counts only for one word, not too short */
export function shapeOf(tokens: Tokens, isPrefix: boolean): TermShape | undefined {
  if (tokens.count === 0) return undefined;
  if (isPhrase(tokens)) {
    if (tokens.count > 1) return 'phrase';
    const length = (tokens.starts.items[1] ?? 0) - (tokens.starts.items[0] ?? 0);
    return isPrefix && length >= MIN_PREFIX_LENGTH ? 'prefix' : 'word';
  }
  const isLoose = hasKind(tokens, WORD_TOKEN) && !hasKind(tokens, CHARACTER_TOKEN) && hasKind(tokens, SPACE_TOKEN);
  return isLoose ? 'loose' : 'exact';
}

/** Whether the term has letters that could be written in another case: words, or symbols such as ⓐ. */
export function hasCase(tokens: Tokens): boolean {
  if (hasKind(tokens, WORD_TOKEN)) return true;
  for (let token = 0; token < tokens.count; token++) {
    if (tokens.kinds[token] !== SYMBOL_TOKEN) continue;
    const character = String.fromCodePoint(tokens.values.items[token] ?? 0);
    if (character.toUpperCase() !== character.toLowerCase()) return true;
  }
  return false;
}

export function kindOf(tokens: Tokens, isPrefix: boolean): TermKind | undefined {
  const shape = shapeOf(tokens, isPrefix);
  if (shape !== 'loose' && shape !== 'exact') return shape;
  if (hasKind(tokens, CHARACTER_TOKEN)) return 'characters';
  return hasKind(tokens, WORD_TOKEN) ? 'punctuation' : 'symbols';
}
