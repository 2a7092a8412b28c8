import { readFileSync, readdirSync } from 'node:fs';

export interface Process {
  pid: number;
  parent: number;
  command: string;
}

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
        // The command's name is in parentheses and may contain spaces.
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(entry), parent, command }];
      } catch {
        return [];
      }
    });
}

/** A process and all its descendants, parents first. Works only on Linux. */
export function processTree(root: number): Process[] {
  const all = processes();
  const tree = all.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/** Sends a signal to a process and all its descendants. */
export function signalTree(root: number, name: NodeJS.Signals): void {
  for (const { pid } of processTree(root)) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // One of them may have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Kills a process and all its descendants with SIGKILL, like a power failure: none can clean up. */
export function killTree(root: number): void {
  const tree = processTree(root);
  for (const { pid } of tree) {
    try {
      // Stopped first, so that none sees another die.
      process.kill(pid, 'SIGSTOP');
    } catch {
      // It has already ended.
    }
  }
  for (const { pid } of tree) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // As above.
    }
  }
}
