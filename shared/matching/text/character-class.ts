/** Punctuation, symbols, emoji, controls: everything that only separates words. */
export const SYMBOL = 0;
/** A letter, digit or combining mark of a script that writes spaces between words. */
export const WORD = 1;
/** A character of a script that is matched by character, not by word. */
export const SPACELESS = 2;
export const SPACE = 3;
/**
 * Half of a surrogate pair, or what joins two emoji: more than this code unit must be looked at. `characterClass`
 * returns the class of the pair; a lone surrogate and the joiner are symbols.
 */
export const SURROGATE = 4;

/**
 * Uses Script and not Script_Extensions, which would include apostrophes and accents of other languages (U+02BC,
 * U+0305). Signs that these scripts share have no script property and are listed one by one: 〆 〱 〼 ー ・, tone and
 * voicing marks.
 */
const SPACELESS_CHARACTER =
  /[[\p{L}\p{N}\p{M}]&&[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]|[\u302a-\u302f\u3099\u309a\u3006\u3031-\u3035\u303c\u30fb\u30fc]/gv;
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/gu;
const WHITESPACE = /\p{White_Space}/gu;

/** The classes of `count` code points from `first` on, found with one search per class. */
function classesFrom(first: number, count: number): Uint8Array {
  const classes = new Uint8Array(count);
  const characters = String.fromCodePoint(...Array.from({ length: count }, (_, offset) => first + offset));
  const assign = (pattern: RegExp, value: number): void => {
    for (const [character] of characters.matchAll(pattern)) classes[(character.codePointAt(0) ?? 0) - first] = value;
  };
  assign(WORD_CHARACTER, WORD);
  assign(SPACELESS_CHARACTER, SPACELESS);
  assign(WHITESPACE, SPACE);
  return classes;
}

/** Code points are classified in blocks. Beyond the basic plane a block is classified when it is first needed. */
const BLOCK = 0x1000;

function buildBasicPlane(): Uint8Array {
  const classes = new Uint8Array(0x10000);
  for (let first = 0; first < 0x10000; first += BLOCK) {
    if (first !== 0xd000) classes.set(classesFrom(first, BLOCK), first);
  }
  classes.set(classesFrom(0xd000, 0x800), 0xd000);
  classes[0x200d] = SURROGATE;
  return classes.fill(SURROGATE, 0xd800, 0xe000);
}

export const UNIT_CLASS = buildBasicPlane();

const classesBeyondBasicPlane = new Map<number, Uint8Array>();

/** The class of a code point; SYMBOL for a lone surrogate. Constant time, except for the first of each 4,096. */
export function characterClass(codePoint: number): number {
  if (codePoint < 0x10000) {
    const unitClass = UNIT_CLASS[codePoint] ?? SYMBOL;
    return unitClass === SURROGATE ? SYMBOL : unitClass;
  }
  const block = Math.floor(codePoint / BLOCK);
  const classes = classesBeyondBasicPlane.get(block) ?? addBlock(block);
  return classes[codePoint % BLOCK] ?? SYMBOL;
}

function addBlock(block: number): Uint8Array {
  const classes = classesFrom(block * BLOCK, BLOCK);
  classesBeyondBasicPlane.set(block, classes);
  return classes;
}

// The first text with an emoji should not wait until three regular expressions are compiled again.
addBlock(0x1f);
