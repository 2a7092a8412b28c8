const BACKTICK = 0x60;
const BACKSLASH = 0x5c;

const BLANK = /[ \t\r]*(?:\n|$)/y;
const INDENT = /[ \t]/y;
const CODE_INDENT = / {4}| {0,3}\t/y;
const LIST_ITEM = /[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]/y;
const FENCE = / {0,3}(?:(`{3,})[^`\n]*|(~{3,})(?:[^~\n][^\n]*)?)(?:\n|$)/y;

function isAt(pattern: RegExp, text: string, offset: number): boolean {
  pattern.lastIndex = offset;
  return pattern.test(text);
}

/** Where a text is code by Markdown's rules. A text is read once, in linear time, when it is first asked about. */
export class CodeParts {
  #text = '';
  #isRead = true;
  /** The parts [from, to) in order, with the backticks and fences around them. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  /** The first backtick of the rest that was looked for, or -1. */
  #backtick = -1;

  set(text: string): void {
    this.#text = text;
    this.#isRead = false;
  }

  /** Whether the character at `offset` is a part of code. */
  has(offset: number): boolean {
    if (!this.#isRead) this.#read();
    let low = 0;
    let high = this.#from.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#to[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return (this.#from[low] ?? Infinity) <= offset;
  }

  #read(): void {
    const text = this.#text;
    this.#isRead = true;
    this.#backtick = text.indexOf('`');
    this.#from.length = 0;
    this.#to.length = 0;
    let paragraph = 0;
    let mayIndent = true;
    let isInList = false;
    let line = 0;
    const endParagraph = (): void => {
      this.#readSpans(paragraph, line);
    };
    while (line < text.length) {
      const end = lineAfter(text, line);
      if (isAt(BLANK, text, line)) {
        endParagraph();
        paragraph = end;
        mayIndent = true;
      } else if (mayIndent && !isInList && isAt(CODE_INDENT, text, line)) {
        this.#push(line, end);
        paragraph = end;
      } else if (isAt(FENCE, text, line)) {
        endParagraph();
        const close = fenceEnd(text, line, end);
        this.#push(line, close);
        paragraph = line = close;
        mayIndent = true;
        continue;
      } else {
        if (isAt(LIST_ITEM, text, line)) isInList = true;
        else if (mayIndent && !isAt(INDENT, text, line)) isInList = false;
        mayIndent = false;
      }
      line = end;
    }
    endParagraph();
  }

  /** The spans of a paragraph: from a run of backticks to the next one of the same length. */
  #readSpans(from: number, to: number): void {
    if (this.#backtick >= 0 && this.#backtick < from) this.#backtick = this.#text.indexOf('`', from);
    let first = this.#backtick;
    if (first < 0 || first >= to) return;
    const runs: { start: number; end: number }[] = [];
    const lastOfLength = new Map<number, number>();
    for (; first >= 0 && first < to; first = this.#text.indexOf('`', first)) {
      const start = first;
      while (this.#text.charCodeAt(first) === BACKTICK) first++;
      lastOfLength.set(first - start, runs.length);
      runs.push({ start, end: first });
    }
    for (let index = 0; index < runs.length; index++) {
      const { start, end } = runs[index]!;
      const opening = isEscaped(this.#text, start) ? start + 1 : start;
      // Without a run of this length behind it, it opens nothing.
      if (opening === end || (lastOfLength.get(end - opening) ?? 0) <= index) continue;
      index++;
      while (runs[index]!.end - runs[index]!.start !== end - opening) index++;
      this.#push(opening, runs[index]!.end);
    }
  }

  #push(from: number, to: number): void {
    this.#from.push(from);
    this.#to.push(to);
  }
}

function lineAfter(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline < 0 ? text.length : newline + 1;
}

/** The end of the lines that begin with the fence at `line`, with the closing one, which may be absent. */
function fenceEnd(text: string, line: number, next: number): number {
  FENCE.lastIndex = line;
  const [, backticks, tildes = ''] = FENCE.exec(text) ?? [];
  const opening = backticks ?? tildes;
  for (let offset = next; offset < text.length;) {
    const end = lineAfter(text, offset);
    const written = text.slice(offset, Math.min(end, offset + opening.length + 3)).trimStart();
    const rest = written.startsWith(opening) ? text.slice(offset, end).trim() : '';
    if (rest !== '' && Array.from(rest).every((character) => character === opening[0])) return end;
    offset = end;
  }
  return text.length;
}

/** Whether an odd number of backslashes stands before `offset`. */
function isEscaped(text: string, offset: number): boolean {
  let first = offset;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (offset - first) % 2 === 1;
}
