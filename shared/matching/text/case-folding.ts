const CHANGES = /^[\p{Changes_When_Casefolded}\p{Changes_When_Lowercased}]$/u;
const CHANGING = /[\p{Changes_When_Casefolded}\p{Changes_When_Lowercased}]/gu;

/** No cased letter is above this code point (Unicode 17: Adlam ends at U+1E943). */
const LAST_CASED = 0x1ffff;

function isOneCharacter(text: string): boolean {
  return String.fromCodePoint(text.codePointAt(0) ?? 0) === text;
}

/**
 * Simple case folding (the C and S rows of Unicode's CaseFolding.txt), derived from the engine's own mappings: the
 * lower case of the upper case, which maps ſ to s and ς to σ. If the upper case has several letters (ß, ŉ), the lower
 * case is used, so that ß never becomes ss. The only exception to Unicode's table is İ, which becomes i, so that
 * Turkish names match.
 */
function foldCharacter(character: string): string {
  if (character === 'İ') return 'i';
  const upper = character.toUpperCase();
  const folded = (isOneCharacter(upper) ? upper : character).toLowerCase();
  return isOneCharacter(folded) ? folded : character;
}

function buildTable(): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  for (let codePoint = 0; codePoint <= LAST_CASED; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    if (CHANGES.test(character)) table.set(character, foldCharacter(character));
  }
  return table;
}

const TABLE = buildTable();

/** Folds the case of each code point by itself, independent of locale and neighbours. */
export function foldCase(text: string): string {
  return text.replace(CHANGING, (character) => TABLE.get(character) ?? character);
}
