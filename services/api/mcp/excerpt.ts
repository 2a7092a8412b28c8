import { inlineText } from '../reading/comments/inline-text.ts';

const EXCERPT_CHARACTERS = 300;

/** The beginning of an untrusted text, on one line; never splits a character. */
export function excerptOf(text: string): string {
  const begun = Array.from(text.slice(0, 4 * EXCERPT_CHARACTERS));
  const isWhole = begun.length <= EXCERPT_CHARACTERS && text.length <= 4 * EXCERPT_CHARACTERS;
  return inlineText(isWhole ? text : `${begun.slice(0, EXCERPT_CHARACTERS).join('')} …`);
}
