import { escapedLessThan } from './escape-tags.ts';
import { plainLines } from './plain-lines.ts';

/**
 * Characters that mean something inside a line of Markdown: a backslash before punctuation or at the end; backticks,
 * asterisks and tildes; underscores but those inside of words; what begins a tag; the end of a link's text; `&` of an
 * entity.
 */
const MEANING =
  /\\(?=[!-/:-@[-`{-~]|$)|[`*~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|<(?=[A-Za-z/!?])|\](?=[([:])|&(?=#?\w+;)/gu;

const WEB_ADDRESS = /^https?:\/\/[^\s]+$/i;
/** Characters that an address between `<` and `>` cannot have. */
const NOT_IN_ADDRESS = /[\s<>\\`"]/g;

/** A text from a stranger that is not Markdown (a title, a name), in one line, shown as it is. */
export function inlineText(text: string): string {
  const line = plainLines(text).join(' ').replace(/\s+/g, ' ').trim();
  const lessThan = escapedLessThan(line);
  return line.replace(MEANING, (character) => (character === '<' ? lessThan : `\\${character}`));
}

/** A web address as a link; anything else as text. */
export function inlineLink(url: string): string {
  const address = plainLines(url).join(' ').trim().replace(NOT_IN_ADDRESS, encodeURIComponent);
  return WEB_ADDRESS.test(address) ? `<${address}>` : inlineText(url);
}
