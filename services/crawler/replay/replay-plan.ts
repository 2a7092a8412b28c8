import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '../../../shared/runtime/config.ts';
import { printable } from '../../../shared/runtime/printable.ts';

/** A parsed `replay:FILE?rate=N&escaped=0` of CRAWL_SOURCES. */
export interface ReplayPlan {
  /** Absolute. */
  path: string;
  bytes: number;
  /**
   * Identifies the file and its content by path, size and modification time: a finished file is not replayed again, a
   * changed one is.
   */
  name: string;
  /** Items per second; undefined: as fast as possible. */
  rate: number | undefined;
  /**
   * Whether the texts are HTML-escaped. Undefined: bare objects are, as in public dumps, and `{kind, data}` nodes are
   * not.
   */
  escaped: boolean | undefined;
}

/** How CRAWL_SOURCES names a replay. */
export const REPLAY = 'replay:';

/** @throws ConfigError when CRAWL_SOURCES names a replay whose file cannot be read or whose options are wrong. */
export function checkReplayFiles(sources: readonly string[]): void {
  for (const name of sources) if (name.startsWith(REPLAY)) parseReplayPlan(name.slice(REPLAY.length));
}

/** @throws ConfigError when the file cannot be read or an option is unknown. */
export function parseReplayPlan(text: string): ReplayPlan {
  const mark = text.lastIndexOf('?');
  const file = mark === -1 ? text : text.slice(0, mark);
  const options = new URLSearchParams(mark === -1 ? '' : text.slice(mark + 1));
  for (const name of options.keys()) {
    if (name !== 'rate' && name !== 'escaped')
      refuse(text, `${JSON.stringify(name)} is not an option; use rate or escaped`);
  }
  const rate = options.get('rate');
  if (rate !== null && !(Number(rate) > 0)) refuse(text, 'rate must be a number above 0 (items per second)');
  const escaped = options.get('escaped');
  if (escaped !== null && escaped !== '0' && escaped !== '1') refuse(text, 'escaped must be 0 or 1');
  const path = resolve(file);
  const { size, mtimeMs } = statFile(text, path);
  return {
    path,
    bytes: size,
    name: `replay:${path}:${size}:${Math.trunc(mtimeMs)}`,
    rate: rate === null ? undefined : Number(rate),
    escaped: escaped === null ? undefined : escaped === '1',
  };
}

function statFile(text: string, path: string): { size: number; mtimeMs: number } {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) refuse(text, `the file ${printable(path)} does not exist or is not a regular file`);
  try {
    accessSync(path, constants.R_OK);
  } catch {
    refuse(text, `the file ${printable(path)} cannot be read`);
  }
  return stat;
}

function refuse(text: string, why: string): never {
  throw new ConfigError(`CRAWL_SOURCES: replay:${printable(text)}: ${why}`);
}
