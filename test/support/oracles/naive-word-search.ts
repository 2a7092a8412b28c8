/**
 * A naive search that imports nothing from the product. It restates the rules for ASCII words, so that recorded matches
 * can be compared with an independent implementation.
 */

/** A post or comment as the forum returns it. */
export interface Thing {
  kind: 't1' | 't3';
  data: Record<string, unknown>;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };
// Scripts without spaces. A Latin word ends next to them.
const SPACELESS =
  /([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー・])/gu;

/** The text, folded as far as it matters for whole ASCII words. */
function simplified(text: string): string {
  return text
    .replace(
      /&(?:(amp|lt|gt|quot|nbsp)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/g,
      (whole, name?: string, decimal?: string, hex?: string) => {
        if (name !== undefined) return ENTITIES[name]!;
        const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      },
    )
    .replace(/\\([\\`*_{}[\]()#+\-.!:|&<>/^~])/g, '$1')
    .normalize('NFC')
    .replace(
      /[\u034f\u0640\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\p{Variation_Selector}/gu,
      '',
    )
    .replace(/[\uff01-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0))
    .replace(/[\ufb00-\ufb06]/g, (ligature) => ligature.normalize('NFKC'))
    .replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize('NFKC'))
    .replace(/[\u00b4\u02bc\u2018\u2019]|(?<=\w)`(?=\w)/g, "'")
    .replaceAll('\u212a', 'k')
    .replaceAll('\u0130', 'i')
    .replaceAll('\u017f', 's')
    .toLowerCase()
    .replace(SPACELESS, ' $1 ');
}

/** The texts that are searched: a post's title and its text separately, a comment's text. */
function searchedTexts({ kind, data }: Thing): string[] {
  const texts = kind === 't3' ? [data.title, data.selftext] : [data.body];
  return texts
    .filter((text) => typeof text === 'string')
    .filter((text) => text !== '[deleted]' && text !== '[removed]')
    .map(simplified);
}

/**
 * The words (of at least four lower-case ASCII letters) that occur in a thing as whole words. A word is a run of
 * letters, digits, marks and inner underscores. An apostrophe between letters belongs to it, except in a possessive 's.
 */
export function wordsIn(thing: Thing, words: ReadonlyMap<string, RegExp>): string[] {
  const texts = searchedTexts(thing);
  const found: string[] = [];
  for (const [word, pattern] of words) {
    if (texts.some((text) => text.includes(word) && pattern.test(text))) found.push(word);
  }
  return found;
}

const IN_WORD = String.raw`[\p{L}\p{N}\p{M}]`;
const BEGINS = String.raw`(?<!${IN_WORD})(?<!${IN_WORD}_+)(?<!${IN_WORD}')`;
const BEFORE = `(?:${BEGINS}|(?<=${BEGINS}(?:[ldjnsmtc]|qu|un|all|dell|nell|sull)'))`;

/** One regular expression per word. */
export function wordPattern(word: string): RegExp {
  const after = String.raw`(?!${IN_WORD})(?!_+${IN_WORD})(?!'(?!s(?![\p{L}\p{N}\p{M}_']))${IN_WORD})`;
  return new RegExp(BEFORE + word + after, 'u');
}
