import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '../../../shared/runtime/config.ts';

/** A file to replay, as `replay:FILE?rate=N&escaped=0` names it. */
export interface ReplayPlan {
  /** Absolute. */
  path: string;
  bytes: number;
  /**
   * Names the file and its content (path, size, time of change): a finished file is not replayed again, a changed one
   * is.
   */
  name: string;
  /** Things a second; undefined: as fast as possible. */
  rate: number | undefined;
  /**
   * Whether texts were escaped in transport; undefined: bare objects, as public dumps hold them, were, `{kind, data}`
   * were not.
   */
  escaped: boolean | undefined;
}

/** @throws ConfigError when the file cannot be read or an option is unknown. */
export function parseReplayPlan(text: string): ReplayPlan {
  const mark = text.lastIndexOf('?');
  const file = mark === -1 ? text : text.slice(0, mark);
  const options = new URLSearchParams(mark === -1 ? '' : text.slice(mark + 1));
  for (const name of options.keys()) {
    if (name !== 'rate' && name !== 'escaped') refuse(text, `"${name}" is no option; there are rate and escaped`);
  }
  const rate = options.get('rate');
  if (rate !== null && !(Number(rate) > 0)) refuse(text, 'rate must be a number of things a second above 0');
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
  if (!stat?.isFile()) refuse(text, `there is no file ${path}`);
  return stat;
}

function refuse(text: string, why: string): never {
  throw new ConfigError(`CRAWL_SOURCES: replay:${text}: ${why}`);
}
