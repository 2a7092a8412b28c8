/** Encodings and rows shared by the tables of several rules. */
import type { TermCase } from './term-case.ts';

/** Printable ASCII in full width. */
export function wide(text: string): string {
  return text.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));
}

export function decimal(text: string): string {
  return Array.from(text)
    .map((character) => `&#${String(character.codePointAt(0))};`)
    .join('');
}

export function hexadecimal(text: string): string {
  return Array.from(text)
    .map((character) => `&#x${(character.codePointAt(0) ?? 0).toString(16)};`)
    .join('');
}

/** Rows for a mark that always separates words, with words on both sides of it. */
export function separates(rule: string, mark: string): TermCase[] {
  return [
    {
      rule: `${rule}: a word next to ${mark}`,
      keyword: 'rust',
      matches: [
        `${mark}rust${mark}`,
        `go${mark}rust`,
        `Rust${mark}go`,
        `a ${mark}RUST b`,
        `I like rust${mark} a lot`,
        `${mark}${mark}rust${mark}${mark}`,
      ],
      misses: [
        `${mark}trust`,
        `rusty${mark}go`,
        `ru${mark}st`,
        `go${mark}rusted`,
        `${mark}trust${mark}`,
        `rust_lang${mark}rust2`,
      ],
    },
    {
      rule: `${rule}: no phrase across ${mark}`,
      keyword: 'go rust',
      matches: [
        `${mark}go rust`,
        `go rust${mark}`,
        `a${mark}Go Rust${mark}b`,
        `go${mark}go rust`,
        `GO  RUST${mark}rust`,
      ],
      misses: [
        `go${mark}rust`,
        `go ${mark}rust`,
        `go${mark} rust`,
        `go ${mark} rust`,
        `go${mark}${mark}rust`,
        `go rusty${mark}`,
      ],
    },
  ];
}

/**
 * A row for a keyword with symbols. It must begin and end with a Latin word or a symbol, and must not have a space
 * after its first character.
 */
export function spelled(
  rule: string,
  keyword: string,
  matches: readonly string[] = [],
  misses: readonly string[] = [],
): TermCase {
  const characters = Array.from(keyword);
  const [first = ''] = characters;
  const last = characters.at(-1) ?? '';
  return {
    rule,
    keyword,
    matches: [
      keyword,
      wide(keyword),
      wide(keyword.toUpperCase()),
      decimal(keyword),
      hexadecimal(keyword),
      keyword.toUpperCase(),
      `so ${keyword.toLowerCase()} it is`,
      `\u624b${keyword}\u673a`,
      `\u{1f980}${keyword}\u{1f980}`,
      ...matches,
    ],
    misses: [
      `x${keyword}`,
      wide(`x${keyword}`),
      `x${decimal(keyword)}`,
      `${first}${keyword}`,
      `${keyword}${last}`,
      `${hexadecimal(keyword)}${wide(last)}`,
      characters.slice(1).join(''),
      characters.slice(0, -1).join(''),
      `${first} ${characters.slice(1).join('')}`,
      ...misses,
    ],
  };
}

/** A row for two letters, signs or sequences that are similar but not equal. */
export function differ(rule: string, one: string, other: string): TermCase {
  return {
    rule: `${rule}: ${one} is not ${other}`,
    keyword: `k${one}n`,
    matches: [`k${one}n`, `K${one}N`, `(k${one}n)`, `a k${one}n!`, `_k${one}n_`, `k${one}n's`],
    misses: [
      `k${other}n`,
      `K${other}N`,
      `(k${other}n)`,
      `the k${other}n`,
      `_k${other}n_`,
      `k${one}${other}n`,
      `xk${one}n`,
    ],
  };
}
