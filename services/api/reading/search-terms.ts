/** Matches a phrase in any kind of quotation marks, or a word. */
const PHRASE = /["“”„«»「」]([^"“”„«»「」]*)["“”„«»「」]?|[^\s"“”„«»「」]+/g;

/** Splits a search text into distinct words and quoted phrases. An unclosed quote extends to the end. */
export function searchTerms(q: string): string[] {
  const terms = new Set<string>();
  for (const [whole, phrase] of q.matchAll(PHRASE)) {
    const term = (phrase ?? whole).trim();
    if (term !== '') terms.add(term);
  }
  return [...terms];
}
