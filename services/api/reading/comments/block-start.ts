/** An open code fence: its character and its length. */
export interface Fence {
  mark: string;
  length: number;
}

/** White space and invisible characters. Markdown treats them as text, but a reader does not see them before a mark. */
const INVISIBLE = /^[\p{Z}\p{Cf}]*/u;

/**
 * Marks that begin a block other than a paragraph or code, or that turn the line before into one, in CommonMark or a
 * common extension. The text of the first group, if there is one, precedes the character to escape.
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
  /^\[(?:[^\\\]]|\\.)*\\?$/, // definition of a link or footnote, whose name may continue in the next line
  /^\[(?:[^\\\]]|\\.)*\]:/,
  /^\+{3,}[ \t]*$/, // front matter
  /^\$\$/, // formula
  /^:(?=::|[ \t]|$)/, // container; definition of a term
];

/** Every character that can begin one of them, or precede it invisibly. Most lines begin with another character. */
const MAY_START = /^[-+*\d#_=|:<`~>[$\t\p{Z}\p{Cf}]/u;

/** Escapes a line, given without its indent, so that it can only begin a paragraph. */
export function escapeBlockStart(text: string): string {
  if (!MAY_START.test(text)) return text;
  const invisible = INVISIBLE.exec(text)?.[0] ?? '';
  const visible = text.slice(invisible.length);
  for (const start of BLOCK_STARTS) {
    const match = start.exec(visible);
    if (!match) continue;
    const index = invisible.length + (match[1]?.length ?? 0);
    return `${text.slice(0, index)}\\${text.slice(index)}`;
  }
  return text;
}

/**
 * Parses the code fence that a line, given without its indent, opens. A row of backticks followed by another backtick
 * is inline code.
 */
export function parseFence(text: string): Fence | undefined {
  const row = /^(?:(`{3,})[^`]*|(~{3,})(?:[^~].*)?)$/.exec(text);
  const marks = row?.[1] ?? row?.[2];
  return marks === undefined ? undefined : { mark: marks[0]!, length: marks.length };
}
