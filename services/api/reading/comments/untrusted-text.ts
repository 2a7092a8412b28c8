import { escapeBlockStart, fenceOf } from './block-start.ts';
import type { Fence } from './block-start.ts';
import { escapeTags } from './escape-tags.ts';
import { plainLines } from './plain-lines.ts';

const TAB_STOP = 4;
/**
 * Quotes within quotes; a line with more `>` shows the rest as text. A parser's stack must not be the author's to fill.
 */
const DEEPEST_QUOTE = 8;
const QUOTED = new RegExp(`^((?: {0,3}> ?){0,${DEEPEST_QUOTE}})( *)(.*)`);

/** Few lines of long texts do, and what is behind it takes longer. */
const BEGINS_INDENTED = /^[ \t>]/;

/** A line of a paragraph: the quote marks and indent before it, and its text. */
interface ParagraphLine {
  before: string;
  text: string;
}

/**
 * A text from a stranger, as lines of Markdown that consist of paragraphs, code and quotes only, whatever the author
 * wrote: headings, rules, lists, tables, HTML, definitions of links and front matter are escaped and so shown as typed;
 * a code fence left open is closed. Put a blank line before and after, and the same indent before each of its lines,
 * and it cannot reach what is around it.
 *
 * Why that holds: each line is classified as CommonMark does it (https://spec.commonmark.org/0.31.2), and since nothing
 * but paragraphs, code and quotes is ever opened, there are few states to be wrong about: inside a fence, in a
 * paragraph at some depth of quotes, or between blocks. Tabs at the start of lines become spaces, because what a tab
 * means depends on the indent put before it.
 */
export function untrustedText(text: string): string[] {
  const blocks = new Blocks();
  for (const line of plainLines(text)) blocks.add(line);
  return trimBlank(blocks.end());
}

class Blocks {
  private readonly lines: string[] = [];
  private paragraph: ParagraphLine[] = [];
  /** How many quotes the open paragraph is in. */
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
    // A line with fewer quote marks than the paragraph still belongs to it; one with more begins a quote inside.
    if (depth > this.depth) this.endParagraph();
    const isOpen = this.paragraph.length > 0;
    if (indent.length >= TAB_STOP) {
      if (isOpen) this.paragraph.push({ before: quotes + indent, text });
      else this.lines.push(line);
      return;
    }
    this.fence = depth === 0 ? fenceOf(text) : undefined;
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
    // Code keeps its tabs, but for a line that they could make the end of the fence.
    this.lines.push(raw === line || !/^[ \t]*[`~]/.test(raw) ? raw : line);
    if (isEnd) this.fence = undefined;
  }

  /** Tags are escaped per paragraph, because code between backticks may go over several lines. */
  private endParagraph(): void {
    const texts = escapeTags(this.paragraph.map(({ text }) => text).join('\n')).split('\n');
    for (const [index, { before }] of this.paragraph.entries()) this.lines.push(before + (texts[index] ?? ''));
    this.paragraph = [];
    this.depth = 0;
  }
}

/**
 * Tabs before the first character that is neither white space nor a quote mark, as the spaces up to their tab stops.
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
