import { readFileSync, rmSync } from 'node:fs';
import { delay } from '../../../shared/runtime/clock.ts';
import { identifyProcess } from '../../../shared/runtime/process-identity.ts';
import type { ProcessIdentity } from '../../../shared/runtime/process-identity.ts';

/** The content of a pid file: the process that a parent started. */
export interface PidRecord {
  pid: number;
  startedAt: string;
  /** A part of the command line that is unique to this installation, such as the path of its data directory. */
  marker: string;
}

/**
 * True if the running process is the recorded one: its command line contains the marker, and it is not a later process
 * with the same pid. Other processes must not be touched.
 */
export function isOurs(record: PidRecord, living: ProcessIdentity | undefined): living is ProcessIdentity {
  if (living?.startedAt !== record.startedAt) return false;
  return living.command === undefined || living.command.includes(record.marker);
}

export function readPidFile(path: string): PidRecord | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { pid, startedAt, marker } = parsed as Partial<PidRecord>;
    if (typeof pid !== 'number' || typeof startedAt !== 'string' || typeof marker !== 'string') return undefined;
    return marker === '' ? undefined : { pid, startedAt, marker };
  } catch {
    return undefined;
  }
}

/**
 * Ends the process that a pid file names, if it is still running and is ours, and removes the file.
 *
 * @param graceMs how long the process may take to stop before it is killed.
 * @returns true when a process was ended.
 */
export async function endOrphan(pidFile: string, signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
  const record = readPidFile(pidFile);
  const ended = record === undefined ? false : await endProcess(record, signal, graceMs);
  rmSync(pidFile, { force: true });
  return ended;
}

/** Like endOrphan, for a process that is not known from a pid file. */
export async function endProcess(record: PidRecord, signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
  const alive = () => isOurs(record, identifyProcess(record.pid));
  if (!alive()) return false;
  send(record.pid, signal);
  const deadline = performance.now() + graceMs;
  while (alive() && performance.now() < deadline) await delay(50);
  if (alive()) send(record.pid, 'SIGKILL');
  while (alive()) await delay(50);
  return true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has just ended by itself.
  }
}
