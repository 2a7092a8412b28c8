import { readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lets other processes go first where all cores are busy: `niceness` steps (1 to 19) below what the process inherits.
 *
 * With Linux's automatic task groups (sched(7)) a nice value counts only among the processes of one session. A process
 * that leads a session therefore gives the same value to its group. Threads that are started later inherit it.
 */
export function yieldProcessor(niceness: number): void {
  setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness));
  if (!leadsSession()) return;
  try {
    writeFileSync('/proc/self/autogroup', String(Math.min(constants.priority.PRIORITY_LOW, niceness)));
  } catch {
    // Without automatic groups, or where /proc may only be read, the nice value alone counts.
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
