/**
 * The tokens of a paragraph that matter: an escaped character, backticks, a possible start of a tag, the end of a
 * link's text.
 */
const TOKEN = /\\[!-/:-@[-`{-~]|`+|<(?=[A-Za-z/!?])|\]\(/g;

/** Parsers that link bare URLs treat the characters after one as part of it, even a backtick or a backslash. */
const BARE_URL = /:\/\/|www\.|mailto:|xmpp:|@/i;

/**
 * Escapes every `<` of a paragraph that could begin HTML or an autolink, except in code between backticks.
 *
 * Code spans are found as CommonMark finds them, from left to right. Where backticks may belong to something else, to
 * the target of a link or to a bare URL, code spans are ignored for the rest of the paragraph: one escape too many
 * inside code is a blemish, one tag too many is a security hole.
 */
export function escapeTags(paragraph: string): string {
  if (!paragraph.includes('<')) return paragraph;
  const runs = backtickRuns(paragraph);
  const lessThan = escapedLessThan(paragraph);
  let mayBeCode = !hasBacktickInUrl(paragraph);
  let escaped = '';
  let done = 0;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(paragraph); token !== null; token = TOKEN.exec(paragraph)) {
    const [text] = token;
    if (text === '](') mayBeCode = false;
    else if (text === '<' || text === '\\<') {
      escaped += paragraph.slice(done, token.index) + lessThan;
      done = token.index + text.length;
    } else if (text.startsWith('`') && mayBeCode) {
      const end = nextRun(runs.get(text.length), token.index);
      if (end !== undefined) TOKEN.lastIndex = end + text.length;
    }
  }
  return escaped + paragraph.slice(done);
}

/** How to write `<` in a text so that it begins no tag. Next to a bare URL a backslash would become part of the URL. */
export function escapedLessThan(text: string): string {
  return BARE_URL.test(text) ? '&lt;' : '\\<';
}

/** Start positions of the runs of backticks, by their length, last first. */
function backtickRuns(paragraph: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of paragraph.matchAll(/`+/g)) {
    const starts = runs.get(run.length);
    if (starts) starts.push(index);
    else runs.set(run.length, [index]);
  }
  for (const starts of runs.values()) starts.reverse();
  return runs;
}

/** The next run after a position. Earlier runs are dropped, because positions only grow. */
function nextRun(starts: number[] | undefined, after: number): number | undefined {
  if (starts === undefined) return undefined;
  while (starts.length > 0 && starts.at(-1)! <= after) starts.pop();
  return starts.at(-1);
}

function hasBacktickInUrl(paragraph: string): boolean {
  if (!paragraph.includes('`')) return false;
  return paragraph.split(/\s+/).some((word) => {
    const url = word.search(BARE_URL);
    return url >= 0 && word.includes('`', url);
  });
}
