import { html } from '../../../../../shared/html/html.ts';
import type { Html } from '../../../../../shared/html/html.ts';

/** UTF-16 code units [start, end) of a text. */
export interface TextRange {
  start: number;
  end: number;
}

/** How many code units of a text are shown before its first mark, and how many in all. */
const BEFORE = 120;
const LENGTH = 400;

/** The text, escaped, with the ranges marked. Ranges may overlap and be in any order. */
export function markedText(text: string, ranges: readonly TextRange[]): Html {
  let position = 0;
  const parts: Html[] = [];
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    const from = Math.max(start, position);
    if (end <= from) continue;
    parts.push(html`${text.slice(position, from)}<mark>${text.slice(from, end)}</mark>`);
    position = end;
  }
  return html`${parts}${text.slice(position)}`;
}

/** The part of a text around its first range, marked. */
export function markedExcerpt(text: string, ranges: readonly TextRange[]): Html {
  const first = Math.min(text.length, ...ranges.map(({ start }) => start));
  const start = first === text.length || first <= BEFORE ? 0 : wholeCharacter(text, first - BEFORE);
  const end = text.length - start <= LENGTH ? text.length : wholeCharacter(text, start + LENGTH);
  const within = ranges.map((range) => ({ start: range.start - start, end: Math.min(range.end, end) - start }));
  return html`${start > 0 && '… '}${markedText(text.slice(start, end), within)}${end < text.length && ' …'}`;
}

/** The position, or the one before it where it would cut a character of two code units. */
function wholeCharacter(text: string, position: number): number {
  const isInside = /[\uDC00-\uDFFF]/.test(text.charAt(position));
  return isInside ? position - 1 : position;
}
