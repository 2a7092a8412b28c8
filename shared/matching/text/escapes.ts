import type { CodeParts } from './code-parts.ts';

/** One pass decodes both, so that no result is decoded again: `&amp;lt;` is `&lt;`, not `<`. */
const ESCAPE = /\\([\\`*_{}[\]()#+\-.!:|&<>/^~])|&(?:(amp|lt|gt|quot|nbsp)|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/y;
const NAMED: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, nbsp: 0xa0 };
const REPLACEMENT = 0xfffd;

const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;

/** A character of the original text: its code point and its length there in code units. */
export interface WrittenCharacter {
  readonly codePoint: number;
  readonly length: number;
}

function characterReference(digits: string, radix: number): number {
  const codePoint = Number.parseInt(digits, radix);
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && !(codePoint >= 0xd800 && codePoint <= 0xdfff);
  return isCharacter ? codePoint : REPLACEMENT;
}

/** By code unit: 1 if it may follow & in an entity, 2 if a backslash escapes it. */
const FOLLOWERS = new Uint8Array(0x80);
for (const first of '#alqgn') FOLLOWERS[first.charCodeAt(0)] = 1;
for (const escaped of '\\`*_{}[]()#+-.!:|&<>/^~')
  FOLLOWERS[escaped.charCodeAt(0)] = (FOLLOWERS[escaped.charCodeAt(0)] ?? 0) | 2;

/** The entity or Markdown escape at `offset`, decoded once, or undefined if there is none. Code has no escapes. */
export function escapeAt(text: string, offset: number, code: CodeParts): WrittenCharacter | undefined {
  const unit = text.charCodeAt(offset);
  const kind = unit === AMPERSAND ? 1 : unit === BACKSLASH ? 2 : 0;
  if (((FOLLOWERS[text.charCodeAt(offset + 1)] ?? 0) & kind) === 0) return undefined;
  if (unit === BACKSLASH && code.has(offset)) return undefined;
  ESCAPE.lastIndex = offset;
  const match = ESCAPE.exec(text);
  if (match === null) return undefined;
  const [{ length }, escaped, name, decimal, hexadecimal] = match;
  if (escaped !== undefined) return { codePoint: escaped.charCodeAt(0), length };
  if (name !== undefined) return { codePoint: NAMED[name] ?? REPLACEMENT, length };
  if (decimal !== undefined) return { codePoint: characterReference(decimal, 10), length };
  return { codePoint: characterReference(hexadecimal ?? '', 16), length };
}

/** The character at `offset`, escaped or not. */
export function characterAt(text: string, offset: number, code: CodeParts): WrittenCharacter {
  const escape = escapeAt(text, offset, code);
  if (escape !== undefined) return escape;
  const codePoint = text.codePointAt(offset) ?? 0;
  return { codePoint, length: codePoint > 0xffff ? 2 : 1 };
}
