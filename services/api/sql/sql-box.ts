import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const CHILD = join(import.meta.dirname, 'sql-box-main.ts');
/** The file with the rows, in the folder of the statement. */
export const RESULT = 'result';

export const SQL_LIMITS = {
  seconds: 10,
  /** DuckDB's own limit; a single function call can exceed it. */
  memoryMb: 512,
  processMb: 768,
  resultRows: 100_000,
  /** A result as text may be several times as large as in memory. */
  resultMb: 64,
} as const;

const MB = 2 ** 20;
/** A statement can allocate some hundred megabytes within this time. */
const WATCH_EVERY_MS = 50;
/** For the JSON of the rows that are being written. */
const HEAP_MB = 256;
/** Linux counts memory in pages. */
const PAGE_BYTES = 4_096;

export type SqlFormat = 'json' | 'csv' | 'parquet';

export interface SqlColumn {
  name: string;
  /** The name of the type in DuckDB. */
  type: string;
}

export interface BoxJob {
  query: string;
  format: SqlFormat;
}

export type BoxAnswer = { columns: SqlColumn[]; rowsRead: number } | { refusal: string } | { broken: string };

export interface SqlResult {
  columns: SqlColumn[];
  /** Rows of the account's tables. */
  rowsRead: number;
  /** The complete result. JSON: the array of one row a line, without brackets around the rows. */
  bytes: Buffer;
}

/** The statement cannot be run, or is beyond a limit; for its author. */
export class SqlRefused extends Error {
  override name = 'SqlRefused';
}

/**
 * Runs a statement in its own process, which has the files of a folder and nothing else: no environment, no open
 * connection, no other file that DuckDB would read. Resolves when the process has ended.
 *
 * @param folder with the account's rows (`writeAccountRows`)
 * @throws SqlRefused, or the signal's reason
 */
export async function runInBox(folder: string, { query, format }: BoxJob, signal: AbortSignal): Promise<SqlResult> {
  const child = fork(CHILD, {
    cwd: folder,
    env: { TZ: 'UTC' },
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  let answer: BoxAnswer | undefined;
  child.once('message', (message) => (answer = message as BoxAnswer));
  // The process may end before it has read the message.
  child.send({ query, format } satisfies BoxJob, () => {});
  const result = join(folder, RESULT);
  const until = performance.now() + SQL_LIMITS.seconds * 1_000;
  let fault: string | undefined;
  const watch = setInterval(() => {
    if (performance.now() > until) fault ??= `takes longer than ${SQL_LIMITS.seconds} seconds`;
    if (residentBytes(child.pid!) > SQL_LIMITS.processMb * MB) fault ??= beyondMemory();
    fault ??= resultFault(result);
    if (fault !== undefined) kill();
  }, WATCH_EVERY_MS);
  try {
    await ended;
  } finally {
    clearInterval(watch);
    signal.removeEventListener('abort', kill);
  }
  signal.throwIfAborted();
  fault ??= resultFault(result);
  if (fault !== undefined) throw new SqlRefused(fault);
  // The process ended without an answer: it had no more memory.
  if (answer === undefined) throw new SqlRefused(beyondMemory());
  if ('refusal' in answer) throw new SqlRefused(answer.refusal);
  if ('broken' in answer) throw new Error(`the process of a statement cannot be made: ${answer.broken}`);
  return { ...answer, bytes: await readFile(result) };
}

/** The body of the response, with one row a line, so that its beginning can be read without the rest. */
export function sqlAnswer({ columns, rowsRead, bytes }: SqlResult, credits: number): Buffer {
  const begin = `{"columns":${JSON.stringify(columns)},"rows":[`;
  const end = `\n],"rows_read":${rowsRead},"credits_used":${credits}}\n`;
  return Buffer.concat([Buffer.from(begin), bytes, Buffer.from(end)]);
}

const beyondMemory = (): string => `needs more than ${SQL_LIMITS.memoryMb} MB of memory, or nests too deeply`;

function resultFault(result: string): string | undefined {
  const bytes = statSync(result, { throwIfNoEntry: false })?.size ?? 0;
  return bytes > SQL_LIMITS.resultMb * MB
    ? `has a result of more than ${SQL_LIMITS.resultMb} MB; add a LIMIT`
    : undefined;
}

/** The memory of a process; 0 where the system does not report it or the process has ended. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** Longer than any statement. */
const LEFT_AFTER_MS = 3_600_000;

/** Makes the folder of statements, and removes what killed processes left in it. Others may be using it now. */
export function openSqlFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedAt > LEFT_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
  return folder;
}
