import { foldCase } from './case-folding.ts';
import type { CodeParts } from './code-parts.ts';
import { characterAt } from './escapes.ts';
import {
  caseKeepingTable,
  FOLD,
  IS_INVISIBLE,
  isBoundary,
  NEEDS_CONTEXT,
  PICTOGRAPH,
  plainForm,
  SKIN_TONE,
  TAKES_SKIN_TONE,
  ZERO_WIDTH_JOINER,
  ZERO_WIDTH_SPACE,
  ZERO_WIDTH_SPACED,
} from './fold-table.ts';

/** Receives folded characters that cannot be separated, with the code units [from, to) that produced them. */
type Emit = (folded: string, from: number, to: number) => void;

/** Whether the table alone folds the character. A text can then also be cut before it. */
function foldsAlone(character: string): boolean {
  return character.length === 1 && FOLD[character.charCodeAt(0)] !== NEEDS_CONTEXT;
}

interface Stretch {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly code: CodeParts;
}

/** Removes invisible characters, but makes some zero-width spaces spaces, and keeps joiners between emoji. */
function visibleCharacters({ text, start, end, code }: Stretch, emit: Emit): void {
  let previous = '';
  let space: [from: number, to: number] | undefined;
  let joiner: [from: number, to: number] | undefined;
  let to = start;
  while (to < end) {
    const from = to;
    const { codePoint, length } = characterAt(text, from, code);
    to += length;
    const character = String.fromCodePoint(codePoint);
    if (codePoint === ZERO_WIDTH_SPACE) {
      space ??= [from, to];
      continue;
    }
    if (codePoint === ZERO_WIDTH_JOINER) joiner ??= [from, to];
    if (IS_INVISIBLE.test(character)) continue;
    if (space !== undefined && ZERO_WIDTH_SPACED.test(previous) && ZERO_WIDTH_SPACED.test(character))
      emit(' ', ...space);
    else if (SKIN_TONE.test(character) && TAKES_SKIN_TONE.test(previous)) continue;
    if (joiner !== undefined && PICTOGRAPH.test(previous) && PICTOGRAPH.test(character)) {
      emit(String.fromCodePoint(ZERO_WIDTH_JOINER), ...joiner);
    }
    space = undefined;
    joiner = undefined;
    previous = character;
    emit(character, from, to);
  }
}

/** Unicode's Stream-Safe Text Format (UAX 15). The time to compose is quadratic in the marks on one letter. */
const MAX_MARKS = 30;

/** A character with the marks that follow it. Composition and case folding never cross a cluster. */
class Cluster {
  readonly #emit: Emit;
  readonly #pieces: { character: string; from: number; to: number }[] = [];
  readonly #keepsCase: boolean;

  constructor(keepsCase: boolean, emit: Emit) {
    this.#keepsCase = keepsCase;
    this.#emit = emit;
  }

  add(character: string, from: number, to: number): void {
    if (foldsAlone(character) || isBoundary(character) || this.#pieces.length > MAX_MARKS) this.flush();
    this.#pieces.push({ character, from, to });
  }

  flush(): void {
    const [only, second] = this.#pieces;
    if (only !== undefined && second === undefined && foldsAlone(only.character)) {
      const table = this.#keepsCase ? caseKeepingTable() : FOLD;
      this.#emit(String.fromCharCode(table[only.character.charCodeAt(0)] ?? 0), only.from, only.to);
    } else this.#foldTogether();
    this.#pieces.length = 0;
  }

  #foldTogether(): void {
    const written = this.#pieces.map(({ character }) => character).join('');
    // Compose twice: İ must be one character before its case is folded, and H with a line below has a composed form
    // only as a small letter.
    const folded = foldCase(written.normalize('NFC')).normalize('NFC');
    if (folded === foldCase(written)) {
      // Nothing was composed, so each character keeps its own position.
      for (const { character, from, to } of this.#pieces) {
        this.#emit(this.#cased(foldCase(character), character), from, to);
      }
    } else this.#emit(this.#cased(folded, written), this.#pieces[0]!.from, this.#pieces.at(-1)!.to);
  }

  /**
   * The folded form, or the composed form with its letters as written, cut to the same length. It is longer where only
   * the small letter is one character with its mark (ẖ), and its first character says which letter was written.
   */
  #cased(folded: string, written: string): string {
    return this.#keepsCase ? written.normalize('NFC').slice(0, folded.length).padEnd(folded.length, '\0') : folded;
  }
}

/**
 * Folds any UTF-16 in linear time. Removed characters belong to no folded character, so a match never begins or ends
 * with one.
 *
 * @param keepsCase folds everything but the case of letters, to the same length
 */
export function foldInContext(stretch: Stretch, keepsCase: boolean, emit: Emit): void {
  const cluster = new Cluster(keepsCase, emit);
  visibleCharacters(stretch, (character, from, to) => {
    for (const plain of plainForm(character)) cluster.add(plain, from, to);
  });
  cluster.flush();
}
