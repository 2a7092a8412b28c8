import type { SearchedText } from '../../matching/rule.ts';

/** The texts to which terms can be limited. */
export const TEXTS: readonly SearchedText[] = ['title', 'body', 'post_title'];

/** Names that stand before a colon and limit the whole rule. */
export const FILTERS = ['in', 'sub', 'author', 'lang', 'is', 'nsfw', 'once'] as const;
export type FilterName = (typeof FILTERS)[number];

/** Before a term that has no condition and yet belongs to `terms`. */
export const PLAIN_TERM = 'term';

const NAMES: readonly string[] = [...TEXTS, ...FILTERS, PLAIN_TERM];
/** What other searches call them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  allintitle: 'title',
  community: 'sub',
  from: 'author',
  intext: 'body',
  intitle: 'title',
  kind: 'is',
  language: 'lang',
  posttitle: 'post_title',
  r: 'sub',
  selftext: 'body',
  subreddit: 'sub',
  text: 'body',
  type: 'is',
  u: 'author',
  user: 'author',
};

export function isText(name: string): name is SearchedText {
  return TEXTS.some((text) => text === name);
}

export function isFilter(name: string): name is FilterName {
  return FILTERS.some((filter) => filter === name);
}

/** What to say about a name before a colon that is not one of the fields. */
export function unknownField(written: string): string {
  const name = written.toLowerCase();
  const meant = ELSEWHERE[name] ?? NAMES.find((known) => isMisspelling(name, known));
  const hint = meant === undefined ? `the fields are ${NAMES.slice(0, -1).join(', ')}` : `did you mean "${meant}:"`;
  return `"${written.slice(0, 30)}:" is not a field: ${hint}; a term with a colon needs quotes around it`;
}

/** Whether they differ in at most a third of the letters: one changed, missing, added or exchanged with the next. */
function isMisspelling(written: string, known: string): boolean {
  if (Math.abs(written.length - known.length) > 2) return false;
  return editDistance(written, known) <= Math.max(1, Math.floor(known.length / 3));
}

/** Optimal string alignment distance. Both texts are short. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const costs = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1;
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      costs[column] = Math.min(
        (rows[row - 1]?.[column] ?? 0) + 1,
        (costs[column - 1] ?? 0) + 1,
        (rows[row - 1]?.[column - 1] ?? 0) + change,
        isSwap ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(costs);
  }
  return rows.at(-1)?.[b.length] ?? 0;
}
