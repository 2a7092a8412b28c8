/** An opened code fence: its character and how many of them. */
export interface Fence {
  mark: string;
  length: number;
}

/** White space and invisible characters that Markdown takes for text, but a reader does not see before a mark. */
const UNSEEN = /^[\p{Z}\p{Cf}]*/u;

/**
 * What begins a block other than a paragraph or code, or makes one of the line before, in CommonMark or a common
 * extension. The first group, where there is one, stands before the character to escape.
 */
const BLOCK_STARTS: readonly RegExp[] = [
  /^#/, // heading
  /^[-+*](?=[ \t]|$)/, // list
  /^(\d+)[.)](?=[ \t]|$)/, // numbered list
  /^[-_*](?:[ \t]*[-_*]){2,}[ \t]*$/, // rule, and front matter
  /^(?:=+|-+)[ \t]*$/, // underline that makes the line before a heading
  /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/, // second row of a table
  /^<(?=[A-Za-z/!?])/, // HTML
  /^(?:`{3,}[^`]*|~~~.*)$/, // fence, where none is allowed
  /^>/, // quote, deeper than allowed
  /^\[(?:[^\\\]]|\\.)*\\?$/, // definition of a link or footnote, whose name may go on in the next line
  /^\[(?:[^\\\]]|\\.)*\]:/,
  /^\+{3,}[ \t]*$/, // front matter
  /^\$\$/, // formula
  /^:(?=::|[ \t]|$)/, // container; definition of a term
];

/** All that any of them begins with, or that may stand unseen before it: most lines of most texts begin otherwise. */
const MAY_START = /^[-+*\d#_=|:<`~>[$\t\p{Z}\p{Cf}]/u;

/** The text of a line, without its indent, so that it begins nothing but a paragraph. */
export function escapeBlockStart(text: string): string {
  if (!MAY_START.test(text)) return text;
  const unseen = UNSEEN.exec(text)?.[0] ?? '';
  const rest = text.slice(unseen.length);
  for (const start of BLOCK_STARTS) {
    const match = start.exec(rest);
    if (!match) continue;
    const at = unseen.length + (match[1]?.length ?? 0);
    return `${text.slice(0, at)}\\${text.slice(at)}`;
  }
  return text;
}

/**
 * The fence that a line, without its indent, opens. With backticks after it, a row of backticks is code within a line.
 */
export function fenceOf(text: string): Fence | undefined {
  const row = /^(?:(`{3,})[^`]*|(~{3,})(?:[^~].*)?)$/.exec(text);
  const marks = row?.[1] ?? row?.[2];
  return marks === undefined ? undefined : { mark: marks[0]!, length: marks.length };
}
