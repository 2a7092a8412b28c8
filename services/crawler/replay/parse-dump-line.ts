import type { ParsedThing } from '../../../shared/upstream/parsing/parse-things.ts';
import { parseThing } from '../../../shared/upstream/parsing/parse-things.ts';

export interface DumpEntry {
  parsed: ParsedThing;
  /** True for a bare `data` object, as in public dumps, false for `{kind, data}`. */
  isBare: boolean;
}

/** Parses one line of a dump. The fields of a bare object tell its kind: comments have `body`, posts have `title`. */
export function parseDumpLine(text: string): DumpEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { parsed: { outcome: 'fault', fault: { path: '', message: 'is not JSON' } }, isBare: false };
  }
  if (typeof value !== 'object' || value === null) {
    return { parsed: { outcome: 'fault', fault: { path: '', message: 'is not an object' } }, isBare: false };
  }
  if ('kind' in value && 'data' in value) return { parsed: parseThing(value, ''), isBare: false };
  const kind = 'body' in value ? 't1' : 'title' in value ? 't3' : 'unknown';
  return { parsed: parseThing({ kind, data: value }, ''), isBare: true };
}
