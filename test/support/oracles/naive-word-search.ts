/**
 * A naive search that imports nothing of the product: it restates, for ASCII words, the rules it needs, so that the
 * recorded matches can be compared with something that was not made by the same code.
 */

/** A post or comment as the forum tells it. */
export interface Thing {
  kind: 't1' | 't3';
  data: Record<string, unknown>;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };
// Scripts that write no spaces: next to them a Latin word ends.
const SPACELESS =
  /([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー・])/gu;

/** The text with everything folded that bears on whole ASCII words. */
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
    .replace(/\\([_*#~>\-.[\]()])/g, '$1')
    .normalize('NFC')
    .replace(/[\u200b-\u200d\u2060\ufeff\u00ad]|\p{Variation_Selector}/gu, '')
    .replace(/[\uff01-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0))
    .replace(/[\ufb00-\ufb06]/g, (ligature) => ligature.normalize('NFKC'))
    .replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize('NFKC'))
    .replaceAll('\u2019', "'")
    .replaceAll('\u212a', 'k')
    .replaceAll('\u0130', 'i')
    .replaceAll('\u017f', 's')
    .toLowerCase()
    .replace(SPACELESS, ' $1 ');
}

/** Where the matching rules look: a post's title and its text apart, a comment's text. */
function searchedTexts({ kind, data }: Thing): string[] {
  const texts = kind === 't3' ? [data.title, data.selftext] : [data.body];
  return texts
    .filter((text) => typeof text === 'string')
    .filter((text) => text !== '[deleted]' && text !== '[removed]')
    .map(simplified);
}

/**
 * Which of the words (lower-case ASCII letters, four or more) stand in a thing as whole words. A word is a run of
 * letters, digits, marks and inner underscores; an apostrophe between letters belongs to it, except a possessive 's.
 */
export function wordsIn(thing: Thing, words: ReadonlyMap<string, RegExp>): string[] {
  const texts = searchedTexts(thing);
  const found: string[] = [];
  for (const [word, pattern] of words) {
    if (texts.some((text) => text.includes(word) && pattern.test(text))) found.push(word);
  }
  return found;
}

/** One regular expression per word. */
export function wordPattern(word: string): RegExp {
  const inWord = String.raw`[\p{L}\p{N}\p{M}]`;
  const before = String.raw`(?<!${inWord})(?<!${inWord}_+)(?<!${inWord}')`;
  const after = String.raw`(?!${inWord})(?!_+${inWord})(?!'(?!s(?![\p{L}\p{N}\p{M}_']))${inWord})`;
  return new RegExp(before + word + after, 'u');
}

/** The lower-case ASCII words of four letters and more that stand alone between spaces. */
export function plainWords(thing: Thing): string[] {
  return searchedTexts(thing).flatMap((text) => text.split(/\s+/).filter((word) => /^[a-z]{4,30}$/.test(word)));
}
