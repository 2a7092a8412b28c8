import { foldCase } from './case-folding.ts';
import { characterAt } from './escapes.ts';
import {
  FOLD,
  isBoundary,
  isInvisible,
  isSkinTone,
  isZeroWidthSpaced,
  NEEDS_CONTEXT,
  plainForm,
  takesSkinTone,
  ZERO_WIDTH_SPACE,
} from './fold-table.ts';

/**
 * Receives each folded character, or several that cannot be told apart, with the code units of the original that made
 * it.
 */
type Take = (folded: string, from: number, to: number) => void;

/** Whether the table says all there is to say of it, so that a text can be cut in front of it as well. */
function isSimple(character: string): boolean {
  return character.length === 1 && FOLD[character.charCodeAt(0)] !== NEEDS_CONTEXT;
}

/**
 * Drops what is invisible, each by its own context: zero-width spaces between letters of some scripts become spaces.
 */
function visibleCharacters(text: string, take: Take): void {
  let before = '';
  let space: [from: number, to: number] | undefined;
  let to = 0;
  while (to < text.length) {
    const from = to;
    const { codePoint, length } = characterAt(text, from);
    to += length;
    const character = String.fromCodePoint(codePoint);
    if (codePoint === ZERO_WIDTH_SPACE) {
      space ??= [from, to];
      continue;
    }
    if (isInvisible(character)) continue;
    if (space !== undefined && isZeroWidthSpaced(before) && isZeroWidthSpaced(character)) take(' ', ...space);
    else if (isSkinTone(character) && takesSkinTone(before)) continue;
    space = undefined;
    before = character;
    take(character, from, to);
  }
}

/** Unicode's Stream-Safe Text Format (UAX 15): composing takes time by the square of the marks on one letter. */
const MOST_MARKS = 30;

/** A character with the marks behind it. Everything is composed and its case folded within one cluster at a time. */
class Cluster {
  readonly #take: Take;
  readonly #characters: string[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  constructor(take: Take) {
    this.#take = take;
  }

  add(character: string, from: number, to: number): void {
    if (isSimple(character) || isBoundary(character) || this.#characters.length > MOST_MARKS) this.flush();
    this.#characters.push(character);
    this.#from.push(from);
    this.#to.push(to);
  }

  flush(): void {
    const [only, second] = this.#characters;
    if (only !== undefined && second === undefined && isSimple(only)) {
      this.#take(String.fromCharCode(FOLD[only.charCodeAt(0)] ?? 0), this.#from[0] ?? 0, this.#to[0] ?? 0);
    } else this.#foldTogether();
    this.#characters.length = 0;
    this.#from.length = 0;
    this.#to.length = 0;
  }

  #foldTogether(): void {
    const written = this.#characters.join('');
    // Twice: İ must be one character before its case is folded, and H with a line below has a composed form only as
    // small letter.
    const folded = foldCase(written.normalize('NFC')).normalize('NFC');
    if (folded === foldCase(written)) {
      // Nothing was composed, so each character has its own place.
      this.#characters.forEach((character, at) => {
        this.#take(foldCase(character), this.#from[at] ?? 0, this.#to[at] ?? 0);
      });
    } else this.#take(folded, this.#from[0] ?? 0, this.#to.at(-1) ?? 0);
  }
}

/**
 * Folds any UTF-16; the work grows with the length. What vanishes belongs to nothing, so a match never begins or ends
 * with it.
 */
export function foldInContext(text: string, take: Take): void {
  const cluster = new Cluster(take);
  visibleCharacters(text, (character, from, to) => {
    for (const plain of plainForm(character)) cluster.add(plain, from, to);
  });
  cluster.flush();
}
