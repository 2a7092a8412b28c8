import { readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { errorCode } from '../../../../shared/runtime/errors.ts';

/** Linux accepts one write of an unprivileged process in 100 ms, on the whole machine. */
const NEXT_WRITE_MS = 150;

/**
 * Lets other processes go first where all cores are busy: `niceness` steps (1 to 19) below what the process inherits.
 * Threads that are started later inherit it.
 *
 * With Linux's automatic task groups (sched(7)) a nice value counts only among the processes of one session. A process
 * that leads a session therefore also gives `niceness` to its group. A new group begins at 0, whatever its processes
 * inherit.
 *
 * @param writeGroup sets the nice value of this process's group
 */
export function yieldProcessor(niceness: number, writeGroup = writeAutogroup): void {
  setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness));
  if (!leadsSession()) return;
  try {
    writeWithRetry(writeGroup, String(Math.min(constants.priority.PRIORITY_LOW, niceness)));
  } catch {
    // Without automatic groups, or where /proc may only be read, the nice value alone counts.
  }
}

function writeAutogroup(nice: string): void {
  writeFileSync('/proc/self/autogroup', nice);
}

/** Writes once more where another process's write was less than 100 ms ago. */
function writeWithRetry(write: (nice: string) => void, nice: string): void {
  try {
    write(nice);
  } catch (error) {
    if (errorCode(error) !== 'EAGAIN') throw error;
    // Blocks the thread, which has nothing else to do before the engine starts.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, NEXT_WRITE_MS);
    write(nice);
  }
}

/** Whether only this process and its children are in its session. */
function leadsSession(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The command's name is in parentheses and may contain spaces; then state, parent, group and session.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]) === process.pid;
  } catch {
    return false;
  }
}
