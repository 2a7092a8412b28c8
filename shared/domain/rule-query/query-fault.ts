/** Why a query cannot be read. Thrown inside this folder only; `parseRuleQuery` returns it. */
export class QueryFault extends Error {
  override name = 'QueryFault';
  /** In UTF-16 code units from the start of the query; its length for a fault at the end. */
  readonly position: number;

  constructor(position: number, message: string) {
    super(message);
    this.position = position;
  }
}

/** How many code units of a long line are shown on each side of the position. */
const SHOWN_AROUND = 60;
const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;
/** Two columns wide in the fonts that terminals and editors use. */
const WIDE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u3003\uff01-\uff60\p{Emoji_Presentation}]/u;
const WIDE_SPACE = '\u3000';

/** The line of the query that holds the position, and a line with a caret under the place. */
export function pointAt(query: string, position: number): string {
  const before = shownBefore(query.slice(Math.max(0, position - SHOWN_AROUND), position));
  const after = shownAfter(query.slice(position, position + SHOWN_AROUND));
  const isCut = before.length === SHOWN_AROUND && position > SHOWN_AROUND;
  const isCutAfter = after.length === SHOWN_AROUND && position + SHOWN_AROUND < query.length;
  const line = `${isCut ? '…' : ''}${printable(before)}`;
  return `${line}${printable(after)}${isCutAfter ? '…' : ''}\n${blankLike(line)}^`;
}

function shownBefore(text: string): string {
  const lines = text.split(LINE_BREAK);
  return lines.at(-1) ?? '';
}

function shownAfter(text: string): string {
  return text.split(LINE_BREAK, 1)[0] ?? '';
}

/** One character for each, so that the caret stays in place: a cut pair, a control or an invisible one shows as �. */
function printable(text: string): string {
  return text.toWellFormed().replace(/\t/g, ' ').replace(/\p{C}/gu, '\ufffd');
}

function blankLike(line: string): string {
  return Array.from(line, (character) => {
    if (/\p{M}/u.test(character)) return '';
    return WIDE.test(character) ? WIDE_SPACE : ' ';
  }).join('');
}
