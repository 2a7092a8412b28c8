import { execFileSync } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';
import { findProgram } from '../find-program.ts';
import { StartFault } from '../start-fault.ts';

/** How to run a program as the user who owns the server's files. */
export interface ServerUser {
  /** Gives a file or folder to that user. */
  own(path: string): void;
  /** The command line that runs `command` as that user. */
  command(command: string, args: string[]): [string, string[]];
}

/**
 * The capability, and the secure bit without which access(2) ignores it: initdb asks that call whether its binaries are
 * there, and would not find them in a folder that only root may enter.
 */
const PASS_FOLDERS = [
  '--inh-caps=-all,+dac_override',
  '--ambient-caps=-all,+dac_override',
  '--securebits=+no_setuid_fixup',
];

/**
 * PostgreSQL refuses to run as root. Anyone else runs it as himself; root runs it as the owner of an existing cluster,
 * else as user postgres, else as nobody. That user keeps the one capability to pass folders which only root may enter:
 * a clone under /root or in a private temporary folder works too.
 *
 * @throws StartFault when root has no such user or no setpriv (package util-linux) to become it.
 */
export function serverUser(cluster: string, env: NodeJS.ProcessEnv): ServerUser {
  if (process.getuid?.() !== 0) return { own: () => undefined, command: (command, args) => [command, args] };
  const { uid, gid } = ownerOf(cluster) ?? userNamed('postgres') ?? userNamed('nobody') ?? noUser();
  const setpriv = findProgram('setpriv', env);
  if (setpriv === undefined) {
    throw new StartFault(
      'PostgreSQL does not run as root, and setpriv (package util-linux) is missing to run it as another user: ' +
        'install it, start as another user, or name a server in DATABASE_URL.',
    );
  }
  const capability = mayGrant() ? PASS_FOLDERS : [];
  const become = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capability, '--'];
  return {
    own: (path) => chownSync(path, uid, gid),
    command: (command, args) => [setpriv, [...become, command, ...args]],
  };

  function mayGrant(): boolean {
    try {
      const trial = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...PASS_FOLDERS, '--', 'true'];
      execFileSync(setpriv ?? '', trial, { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }
}

interface Ids {
  uid: number;
  gid: number;
}

function ownerOf(path: string): Ids | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid };
}

function userNamed(name: string): Ids | undefined {
  const id = (flag: string) =>
    Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }).toString());
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

function noUser(): never {
  throw new StartFault('PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody.');
}
