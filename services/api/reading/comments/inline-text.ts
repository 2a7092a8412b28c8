import { escapedLessThan } from './escape-tags.ts';
import { plainLines } from './plain-lines.ts';

/**
 * Characters with a meaning inside a line of Markdown: a backslash before punctuation or at the end; backticks,
 * asterisks and tildes; underscores, except inside words; the start of a tag; the end of a link's text; `&` of an
 * entity.
 */
const MEANING =
  /\\(?=[!-/:-@[-`{-~]|$)|[`*~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|<(?=[A-Za-z/!?])|\](?=[([:])|&(?=#?\w+;)/gu;

const WEB_ADDRESS = /^https?:\/\/[^\s]+$/i;
/** Characters that an address between `<` and `>` cannot contain. */
const NOT_IN_ADDRESS = /[\s<>\\`"]/g;

/** Renders untrusted plain text (a title, a name) as one line of Markdown that shows it unchanged. */
export function inlineText(text: string): string {
  const line = plainLines(text).join(' ').replace(/\s+/g, ' ').trim();
  const lessThan = escapedLessThan(line);
  return line.replace(MEANING, (character) => (character === '<' ? lessThan : `\\${character}`));
}

/** Renders a web address as a link, and anything else as text. */
export function inlineLink(url: string): string {
  const address = plainLines(url).join(' ').trim().replace(NOT_IN_ADDRESS, encodeURIComponent);
  return WEB_ADDRESS.test(address) ? `<${address}>` : inlineText(url);
}
