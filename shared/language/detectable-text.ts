/** The detector reads about 350 bytes; this leaves room for what it skips. */
const ENOUGH = 600;
/** A longer line is cut, so that the time per item is bounded. */
const LONGEST_LINE = 2_000;

const FENCE = /^ {0,3}(?:```|~~~)/;
/** A line of code, which is indented, or a quotation. */
const CODE_OR_QUOTE = /^(?: {4}|\t| {0,3}(?:>|&gt;))/;
const INLINE_CODE = /`[^`]*`/g;
const ADDRESS = /\b(?:https?:\/\/|www\.)[^\s)\]]+/gi;
/** Begins the addresses without a slash. */
const WWW = /www\./i;
/** Names of communities and accounts: r/…, /u/… */
const FORUM_NAME = /(?<![\p{L}\p{N}])\/?[ru]\/[\p{L}\p{N}_-]+/gu;
/** Words with a digit, an underscore or an @, such as versions, identifiers and e-mail addresses. */
const WORD = /[^\s.,;:!?()[\]"]+/g;
const NOT_PROSE = /[\p{N}_@]/u;

/**
 * The prose at the beginning of Markdown texts, without code, quotations, addresses and names of the forum: they would
 * be taken for the writer's language. Takes time in proportion to the texts, of which it reads no more than it needs.
 */
export function detectableText(texts: readonly string[]): string {
  let prose = '';
  for (const text of texts) {
    let isCode = false;
    for (let start = 0; start < text.length && prose.length < ENOUGH;) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? text.length : newline;
      const line = text.slice(start, Math.min(end, start + LONGEST_LINE));
      start = end + 1;
      if (FENCE.test(line)) isCode = !isCode;
      else if (!isCode && !CODE_OR_QUOTE.test(line)) prose += ` ${proseOf(line)}`;
    }
  }
  return prose.trim();
}

function proseOf(line: string): string {
  let prose = line;
  // Most lines have none of these, and looking for a character takes far less time than looking for an expression.
  if (line.includes('`')) prose = prose.replace(INLINE_CODE, ' ');
  const hasSlash = line.includes('/');
  if (hasSlash || WWW.test(line)) prose = prose.replace(ADDRESS, ' ');
  if (hasSlash) prose = prose.replace(FORUM_NAME, ' ');
  // Most lines have no such word, and looking at each word takes longer than all the rest.
  return NOT_PROSE.test(prose) ? prose.replace(WORD, (word) => (NOT_PROSE.test(word) ? ' ' : word)) : prose;
}
