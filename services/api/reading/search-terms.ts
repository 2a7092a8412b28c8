/** Any of the quotes that a keyword may stand in. */
const PHRASE = /["“”„«»「」]([^"“”„«»「」]*)["“”„«»「」]?|[^\s"“”„«»「」]+/g;

/**
 * What a search text asks for: its words, and phrases in quotes, each once. A quote that is not closed goes to the end.
 */
export function searchTerms(q: string): string[] {
  const terms = new Set<string>();
  for (const [whole, phrase] of q.matchAll(PHRASE)) {
    const term = (phrase ?? whole).trim();
    if (term !== '') terms.add(term);
  }
  return [...terms];
}
