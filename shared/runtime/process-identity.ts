import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** Distinguishes a process from a later one with the same pid. */
export interface ProcessIdentity {
  /** Opaque: the same for one process, different after the pid was reused or the machine was restarted. */
  startedAt: string;
  /** Its arguments separated by spaces. Undefined for a killed process that still occupies its ports and locks. */
  command: string | undefined;
}

/** The running process with this pid; undefined when there is none. A zombie without threads does not count. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

function fromProc(pid: number): ProcessIdentity | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses, which may contain anything: count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startTicks = fields[19];
  if (startTicks === undefined) return undefined;
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  if (state === 'Z' || state === 'X') {
    const isEnding = readdirSync(`/proc/${pid}/task`).length > 1;
    return isEnding ? { startedAt: `${boot}:${startTicks}`, command: undefined } : undefined;
  }
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  return { startedAt: `${boot}:${startTicks}`, command };
}

function fromPs(pid: number): ProcessIdentity | undefined {
  const line = execFileSync('ps', ['-o', 'stat=,lstart=,command=', '-ww', '-p', String(pid)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  const match = /^(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(\S.*)$/.exec(line);
  if (!match || match[1]?.startsWith('Z')) return undefined;
  return { startedAt: match[2] ?? '', command: match[3] ?? '' };
}
