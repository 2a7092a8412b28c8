const TAB_STOP = 4;
/**
 * Maximum nesting of quotes. A line with more `>` shows the rest as text, so that an author cannot overflow a parser's
 * stack.
 */
const MAX_QUOTE_DEPTH = 8;
const QUOTED = new RegExp(`^((?: {0,3}> ?){0,${MAX_QUOTE_DEPTH}})( *)(.*)`);

/** Most lines of long texts do not match, and the work behind it is slower. */
const BEGINS_INDENTED = /^[ \t>]/;

/** A line of a paragraph: the quote marks and indent before its text, and the text. */
interface ParagraphLine {
  before: string;
  text: string;
}

/**
 * Renders untrusted Markdown as lines that consist only of paragraphs, code and quotes. Headings, rules, lists, tables,
 * HTML, link definitions and front matter are escaped and so shown as typed. An open code fence is closed. Put a blank
 * line before and after the result, and the same indent before each of its lines, and it cannot affect the text around
 * it.
 *
 * Each line is classified as CommonMark does it (https://spec.commonmark.org/0.31.2). Only paragraphs, code and quotes
 * are ever open, so there are few states to get wrong: inside a fence, in a paragraph at some depth of quotes, or
 * between blocks. Tabs at the start of lines become spaces, because the width of a tab depends on the indent before it.
 */
export function untrustedText(text: string): string[] {
  const blocks = new Blocks();
  for (const line of plainLines(text)) blocks.add(line);
  return trimBlank(blocks.end());
}

class Blocks {
  private readonly lines: string[] = [];
  private paragraph: ParagraphLine[] = [];
  /** Quote depth of the open paragraph. */
  private depth = 0;
  private fence: Fence | undefined;

  add(raw: string): void {
    const line = expandLeadingTabs(raw);
    if (this.fence) {
      this.addToFence(raw, line, this.fence);
      return;
    }
    const [, quotes = '', indent = '', text = ''] = BEGINS_INDENTED.test(line)
      ? (QUOTED.exec(line) ?? [])
      : [line, '', '', line];
    if (text.trim() === '') {
      this.endParagraph();
      this.lines.push(quotes.trimEnd());
      return;
    }
    const depth = quotes.replaceAll(' ', '').length;
    // A line with fewer quote marks continues the paragraph. A line with more begins a nested quote.
    if (depth > this.depth) this.endParagraph();
    const isOpen = this.paragraph.length > 0;
    if (indent.length >= TAB_STOP) {
      if (isOpen) this.paragraph.push({ before: quotes + indent, text });
      else this.lines.push(line);
      return;
    }
    this.fence = depth === 0 ? parseFence(text) : undefined;
    if (this.fence) {
      this.endParagraph();
      this.lines.push(line);
      return;
    }
    if (!isOpen) this.depth = depth;
    this.paragraph.push({ before: quotes + indent, text: escapeBlockStart(text) });
  }

  end(): string[] {
    this.endParagraph();
    if (this.fence) this.lines.push(this.fence.mark.repeat(this.fence.length));
    return this.lines;
  }

  private addToFence(raw: string, line: string, fence: Fence): void {
    const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
    const isEnd = closing?.[0] === fence.mark && closing.length >= fence.length;
    // Code keeps its tabs, except in a line that tabs could turn into the end of the fence.
    this.lines.push(raw === line || !/^[ \t]*[`~]/.test(raw) ? raw : line);
    if (isEnd) this.fence = undefined;
  }

  /** Tags are escaped per paragraph, because a code span may continue over several lines. */
  private endParagraph(): void {
    const texts = escapeTags(this.paragraph.map(({ text }) => text).join('\n')).split('\n');
    for (const [index, { before }] of this.paragraph.entries()) this.lines.push(before + (texts[index] ?? ''));
    this.paragraph = [];
    this.depth = 0;
  }
}

/**
 * Replaces tabs before the first character that is neither white space nor a quote mark by spaces up to their tab
 * stops.
 */
function expandLeadingTabs(line: string): string {
  if (!BEGINS_INDENTED.test(line)) return line;
  const leading = /^[ \t>]*/.exec(line)?.[0] ?? '';
  if (!leading.includes('\t')) return line;
  let expanded = '';
  for (const character of leading) {
    expanded += character === '\t' ? ' '.repeat(TAB_STOP - (expanded.length % TAB_STOP)) : character;
  }
  return expanded + line.slice(leading.length);
}

function trimBlank(lines: readonly string[]): string[] {
  const isText = (line: string): boolean => line.trim() !== '';
  const first = lines.findIndex(isText);
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex(isText) + 1);
}

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

/**
 * Line breaks of any standard. A reader that knows more of them than Markdown must see the same lines that we checked.
 */
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** Control characters except tab and line feed. Parsers disagree on whether they are white space. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;
/**
 * Direction marks and tag characters. Readers do not see them, but a model reads tag characters as letters, so a text
 * could tell a model something that people do not see.
 */
const HIDDEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** Splits an untrusted text into lines, without control characters, direction marks and tag characters. */
function plainLines(text: string): string[] {
  return text.toWellFormed().replace(LINE_BREAK, '\n').replace(CONTROL, '').replace(HIDDEN, '').split('\n');
}

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
function escapeTags(paragraph: string): string {
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
function escapedLessThan(text: string): string {
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

/** An open code fence: its character and its length. */
interface Fence {
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
function parseFence(text: string): Fence | undefined {
  const row = /^(?:(`{3,})[^`]*|(~{3,})(?:[^~].*)?)$/.exec(text);
  const marks = row?.[1] ?? row?.[2];
  return marks === undefined ? undefined : { mark: marks[0]!, length: marks.length };
}
