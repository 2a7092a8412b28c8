/**
 * What matters on the way through a paragraph: an escaped character, backticks, what may begin a tag, the end of a
 * link's text.
 */
const TOKEN = /\\[!-/:-@[-`{-~]|`+|<(?=[A-Za-z/!?])|\]\(/g;

/** Parsers that make links of bare URLs take what follows for a part of them, a backtick or a backslash too. */
const BARE_URL = /:\/\/|www\.|mailto:|xmpp:|@/i;

/**
 * A paragraph with every `<` escaped that could begin HTML or an autolink, except in code between backticks.
 *
 * Code is found as CommonMark finds it, from left to right. Where backticks may belong to something else, the target of
 * a link or a bare URL, it is not relied on for the rest of the paragraph: a mark too many inside of code is a blemish,
 * a tag too many is a hole.
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

/** How `<` is written in a text so that it begins no tag: a backslash before it must not become a part of a URL. */
export function escapedLessThan(text: string): string {
  return BARE_URL.test(text) ? '&lt;' : '\\<';
}

/** Where the rows of backticks begin, by their length, last first. */
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

/** The next row behind a place; those before it are dropped, since places only grow. */
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
