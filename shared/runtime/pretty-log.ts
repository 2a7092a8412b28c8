import { styleText } from 'node:util';
import type { DestinationStream } from 'pino';
import { printable, printableLines } from './printable.ts';

/** Where lines go, as far as a log needs to know it. */
export interface LogTarget {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  hasColors?(count: number): boolean;
}

export type LogFormat = 'pretty' | 'json';

/** LOG_FORMAT, or by default what suits the target: plain lines for a terminal, JSON for programs. */
export function logFormatOf(setting: LogFormat | undefined, target: LogTarget): LogFormat {
  return setting ?? (target.isTTY === true ? 'pretty' : 'json');
}

/** False where NO_COLOR is set, TERM is dumb, or nobody looks. */
export function hasColors(target: LogTarget): boolean {
  return target.isTTY === true && target.hasColors?.(16) === true;
}

const LEVELS: Record<number, readonly [name: string, style: 'dim' | 'green' | 'yellow' | 'red']> = {
  10: ['TRACE', 'dim'],
  20: ['DEBUG', 'dim'],
  30: ['INFO', 'green'],
  40: ['WARN', 'yellow'],
  50: ['ERROR', 'red'],
  60: ['FATAL', 'red'],
};

/** A destination that writes each JSON line as one line for people, and the stack of an error below it, indented. */
export function prettyLog(target: LogTarget): DestinationStream {
  const colors = hasColors(target);
  return { write: (line) => void target.write(`${prettyLine(line, colors)}\n`) };
}

function prettyLine(line: string, colors: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colors ? styleText(style, text, { validateStream: false }) : text;
  const { level, time, msg, part, service, err, pid: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const [name, style] = LEVELS[Number(level)] ?? ['LOG', 'dim'];
  const { stack, ...facts } = errorFields(err);
  const source = service ?? part;
  const words = [
    paint('dim', clockTime(Number(time))),
    paint(style, name.padEnd(5)),
    ...(source === undefined ? [] : [`${plain(source)}:`]),
    ...(msg === undefined ? [] : [typeof msg === 'string' ? printable(msg) : plain(msg)]),
    ...Object.entries({ ...fields, ...facts }).map(([key, value]) => paint('dim', `${printable(key)}=${plain(value)}`)),
  ];
  return words.join(' ') + (stack === undefined ? '' : `\n${indented(stack)}`);
}

/** The stack of a logged error, and what the stack does not say: its code and its causes. */
function errorFields(err: unknown): { stack?: string | undefined; [name: string]: unknown } {
  if (err === undefined || err === null) return {};
  if (typeof err !== 'object') return { err };
  const { stack, type, message, ...facts } = err as Record<string, unknown>;
  return typeof stack === 'string' ? { ...facts, stack } : { type, message, ...facts };
}

/** No line of a stack looks like the line of an entry: messages of errors may hold line breaks. */
function indented(stack: string): string {
  return printableLines(stack).replaceAll(/^/gm, '  ');
}

function clockTime(time: number): string {
  return new Date(time).toTimeString().slice(0, 8);
}

/** A value in one line: as it is where it is a word, otherwise as JSON. */
function plain(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@%+-]+$/.test(value) ? value : printable(JSON.stringify(value));
}
