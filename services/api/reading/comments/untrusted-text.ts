import { escapeBlockStart, parseFence } from './block-start.ts';
import type { Fence } from './block-start.ts';
import { escapeTags } from './escape-tags.ts';
import { plainLines } from './plain-lines.ts';

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
