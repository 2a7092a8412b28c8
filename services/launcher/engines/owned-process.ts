import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { delay } from '../../../shared/runtime/clock.ts';
import { readJsonFile } from '../../../shared/runtime/endpoints-file.ts';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { identifyProcess } from '../../../shared/runtime/process-identity.ts';
import type { ProcessIdentity } from '../../../shared/runtime/process-identity.ts';
import { StartFault } from './engine.ts';

export interface OwnedProcessOptions {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
  /** The file that records the process, so that the next start can recognise it if its parent dies. */
  pidFile: string;
  /** A part of its command line that is unique to this installation. */
  marker: string;
  /** The file for its output, or 'inherit' for the parent's output. */
  output: string;
  ipc?: boolean;
  stopSignal: NodeJS.Signals;
  /** The time from the stop signal to SIGKILL. */
  stopDeadlineMs: number;
}

export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child process in its own session: Ctrl-C in the terminal does not reach it, and it never outlives its parent. */
export interface OwnedProcess {
  readonly name: string;
  readonly pid: number;
  readonly child: ChildProcess;
  readonly exited: Promise<ProcessEnd>;
  /** How the process ended; undefined while it runs. */
  end(): ProcessEnd | undefined;
  /** The stop signal, and SIGKILL to its group after the deadline. Resolves when it has ended. Repeatable. */
  stop(): Promise<ProcessEnd>;
}

/**
 * A shell beside an owned process, which reads a pipe from its parent. A line: the process has ended. End of file: the
 * parent died; then the shell stops the process. Arguments: $1 pid, $2 signal, $3 seconds until SIGKILL.
 */
const WATCHER = `
read -r ended && exit 0
kill -s "$2" "$1" 2>/dev/null || exit 0
n=0
while kill -0 "$1" 2>/dev/null; do
  [ "$n" -ge "$3" ] && { kill -s KILL "$1" 2>/dev/null; exit 0; }
  n=$((n + 1))
  sleep 1
done`;

/** Starts a child process. @throws StartFault when the command cannot be run, or not be recorded and watched. */
export async function startOwnedProcess(options: OwnedProcessOptions): Promise<OwnedProcess> {
  const output = options.output === 'inherit' ? 'inherit' : openLog(options.output);
  const stdio: StdioOptions = ['ignore', output, output, ...(options.ipc === true ? (['ipc'] as const) : [])];
  const child = spawn(options.command, options.args, {
    stdio,
    env: options.env,
    detached: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  if (typeof output === 'number') closeSync(output);
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', (error) => {
      reject(new StartFault(`${options.name} could not be started (${options.command}): ${error.message}`));
    });
    if (child.pid !== undefined) resolve(child.pid);
  });
  try {
    return own(options, child, pid);
  } catch (error) {
    // Without its record and its watcher it could outlive its parent unseen.
    const exited = new Promise((resolve) => child.once('exit', resolve));
    kill(-pid, 'SIGKILL');
    await exited;
    throw new StartFault(`${options.name} could not be started: ${errorMessage(error)}`);
  }
}

function own(options: OwnedProcessOptions, child: ChildProcess, pid: number): OwnedProcess {
  mkdirSync(dirname(options.pidFile), { recursive: true });
  const startedAt = identifyProcess(pid)?.startedAt ?? '';
  writeFileSync(options.pidFile, JSON.stringify({ pid, startedAt, marker: options.marker }), { mode: 0o600 });
  const dismissWatcher = watch(options, pid);
  let end: ProcessEnd | undefined;
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      end = { code, signal };
      dismissWatcher();
      rmSync(options.pidFile, { force: true });
      resolve(end);
    });
  });
  return {
    name: options.name,
    pid,
    child,
    exited,
    end: () => end,
    async stop() {
      if (end) return end;
      child.kill(options.stopSignal);
      const timer = setTimeout(() => kill(-pid, 'SIGKILL'), options.stopDeadlineMs);
      const ended = await exited;
      clearTimeout(timer);
      return ended;
    },
  };
}

function watch(options: OwnedProcessOptions, pid: number): () => void {
  const signal = options.stopSignal.replace('SIG', '');
  const seconds = String(Math.ceil(options.stopDeadlineMs / 1000));
  const watcher = spawn('/bin/sh', ['-c', WATCHER, 'watch-parent', String(pid), signal, seconds], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => undefined);
  if (watcher.pid === undefined) throw new Error('/bin/sh, which watches it, cannot be run');
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  return () => {
    watcher.stdin.end('ended\n');
  };
}

/** @param pid negative: the process group */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

const LOG_ROTATE_BYTES = 10 * 1024 * 1024;

function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path) && statSync(path).size > LOG_ROTATE_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

/** The last lines of a log. @param from the byte offset at which this run's output begins */
export function logTail(path: string, from = 0, lines = 15): string {
  try {
    const text = readFileSync(path).subarray(from).toString('utf8');
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

/** The byte offset at which the output of a process that is started now will begin in its log. */
export function logSize(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size > LOG_ROTATE_BYTES ? 0 : size;
}

interface PidRecord {
  pid: number;
  startedAt: string;
  marker: string;
}

/** Not a later process with the same pid: others must not be touched. */
function isOurs(record: PidRecord, running: ProcessIdentity | undefined): boolean {
  if (running?.startedAt !== record.startedAt) return false;
  return running.command === undefined || running.command.includes(record.marker);
}

/** Ends the process that a pid file names, if it is ours, and removes the file. @param graceMs before SIGKILL */
export async function endOrphan(pidFile: string, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const record = readJsonFile(pidFile) as PidRecord | undefined;
  const isRunning = () => record !== undefined && isOurs(record, identifyProcess(record.pid));
  if (record && isRunning()) {
    kill(record.pid, signal);
    const deadline = performance.now() + graceMs;
    while (isRunning() && performance.now() < deadline) await delay(50);
    if (isRunning()) kill(record.pid, 'SIGKILL');
    while (isRunning()) await delay(50);
  }
  rmSync(pidFile, { force: true });
}

/** A probe: resolves when the address answers. */
export async function answers(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  await answer.text();
}

export interface ReadinessOptions {
  process: OwnedProcess;
  probe: () => Promise<void>;
  /**
   * True for a failed probe which shows that the process is still starting: the deadline then begins again. A recovery
   * that is stopped at its deadline would begin again with each start and never end.
   */
  isStarting?: (error: unknown) => boolean;
  deadlineMs: number;
  log: string;
  /** The byte offset at which this run's output begins in the log. */
  logFrom: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until a started process is ready. Stops it if it is not ready in time.
 *
 * @throws StartFault with the tail of the engine's log.
 */
export async function awaitReady(options: ReadinessOptions): Promise<void> {
  let deadline = performance.now() + options.deadlineMs;
  let last = 'no answer yet';
  while (options.process.end() === undefined && options.signal?.aborted !== true) {
    try {
      await options.probe();
      return;
    } catch (error) {
      last = errorMessage(error);
      if (options.isStarting?.(error) === true) deadline = performance.now() + options.deadlineMs;
    }
    if (performance.now() > deadline) break;
    await delay(40);
  }
  await options.process.stop();
  if (options.signal?.aborted === true) throw new StartFault(`${options.process.name}: the start was interrupted`);
  const tail = logTail(options.log, options.logFrom);
  throw new StartFault(
    `${options.process.name} did not start (${last}). The last lines of ${options.log}:\n${tail === '' ? '(empty)' : tail}`,
  );
}
