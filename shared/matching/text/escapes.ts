/** One pass for both, so that what one of them produces is never read again: `&amp;lt;` is `&lt;`, not `<`. */
const ESCAPE = /\\([_*#~>\-.[\]()])|&(?:(amp|lt|gt|quot|nbsp)|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/y;
const NAMED: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, nbsp: 0xa0 };
const REPLACEMENT = 0xfffd;

const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;

/** A character as it was written: its code point, and how many code units that took. */
export interface WrittenCharacter {
  readonly codePoint: number;
  readonly length: number;
}

function characterReference(digits: string, radix: number): number {
  const codePoint = Number.parseInt(digits, radix);
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff);
  return isCharacter ? codePoint : REPLACEMENT;
}

/** By code unit: 1 for what may follow & in an entity, 2 for what a backslash escapes. */
const FOLLOWERS = new Uint8Array(0x80);
for (const first of '#alqgn') FOLLOWERS[first.charCodeAt(0)] = 1;
for (const escaped of '_*#~>-.[]()') FOLLOWERS[escaped.charCodeAt(0)] = (FOLLOWERS[escaped.charCodeAt(0)] ?? 0) | 2;

/** The entity or markdown escape that begins at `at`, read once; undefined: none does. */
export function escapeAt(text: string, at: number): WrittenCharacter | undefined {
  const unit = text.charCodeAt(at);
  const kind = unit === AMPERSAND ? 1 : unit === BACKSLASH ? 2 : 0;
  if (((FOLLOWERS[text.charCodeAt(at + 1)] ?? 0) & kind) === 0) return undefined;
  ESCAPE.lastIndex = at;
  const match = ESCAPE.exec(text);
  if (match === null) return undefined;
  const [{ length }, escaped, name, decimal, hexadecimal] = match;
  if (escaped !== undefined) return { codePoint: escaped.charCodeAt(0), length };
  if (name !== undefined) return { codePoint: NAMED[name] ?? REPLACEMENT, length };
  if (decimal !== undefined) return { codePoint: characterReference(decimal, 10), length };
  return { codePoint: characterReference(hexadecimal ?? '', 16), length };
}

/** The character that begins at `at`, whether it is escaped or not. */
export function characterAt(text: string, at: number): WrittenCharacter {
  const escape = escapeAt(text, at);
  if (escape !== undefined) return escape;
  const codePoint = text.codePointAt(at) ?? 0;
  return { codePoint, length: codePoint > 0xffff ? 2 : 1 };
}
