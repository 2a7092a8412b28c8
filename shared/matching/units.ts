import { characterClass, SPACE, SPACELESS, WORD } from './character-class.ts';

/** A whole word, the 's behind one, or a single character of anything else. */
export interface Unit {
  readonly key: string;
  readonly kind: 'word' | 'possessive' | 'spaceless' | 'space' | 'symbol';
}

function classAt(text: string, at: number): number {
  const codePoint = text.codePointAt(at);
  return codePoint === undefined ? SPACE : characterClass(codePoint);
}

function lengthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/**
 * Where the run of word characters goes on behind `at`, which is at no word character: over an apostrophe or over any number of
 * underscores, if a word character follows. Otherwise undefined.
 */
function bridge(text: string, at: number): number | undefined {
  let next = at;
  if (text[at] === "'") next++;
  else while (text[next] === '_') next++;
  return next > at && classAt(text, next) === WORD ? next : undefined;
}

/** Appends the word that begins at `start`, and its possessive if it has one; returns where they end. */
function takeWord(text: string, start: number, units: Unit[]): number {
  let end = start;
  let apostrophe = start;
  for (;;) {
    while (classAt(text, end) === WORD) end += lengthAt(text, end);
    const next = bridge(text, end);
    if (next === undefined) break;
    if (text[end] === "'") apostrophe = end;
    end = next;
  }
  const isPossessive = apostrophe > start && apostrophe === end - 2 && text[end - 1] === 's';
  units.push({ key: text.slice(start, isPossessive ? apostrophe : end), kind: 'word' });
  if (isPossessive) units.push({ key: "'s", kind: 'possessive' });
  return end;
}

/**
 * Cuts a folded text into units. Whole words are one unit each, which is what makes matching whole words a comparison of
 * units, without any look at what stands beside. Linear in the length.
 */
export function splitUnits(folded: string): Unit[] {
  const units: Unit[] = [];
  let at = 0;
  while (at < folded.length) {
    const characterKind = classAt(folded, at);
    if (characterKind === WORD) {
      at = takeWord(folded, at, units);
      continue;
    }
    const end = at + lengthAt(folded, at);
    const kind = characterKind === SPACELESS ? 'spaceless' : characterKind === SPACE ? 'space' : 'symbol';
    units.push({ key: folded.slice(at, end), kind });
    at = end;
  }
  return units;
}
