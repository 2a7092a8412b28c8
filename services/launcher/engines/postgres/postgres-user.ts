import { execFileSync } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';
import { findProgram, StartFault } from '../engine.ts';

/** Runs programs as the user who owns the server's files. */
export interface ServerUser {
  own(path: string): void;
  command(command: string, args: string[]): [string, string[]];
}

/**
 * The capability to traverse folders that only root may enter, and the secure bit without which access(2) ignores it.
 * initdb finds its binaries with access(2).
 */
const PASS_FOLDERS = [
  '--inh-caps=-all,+dac_override',
  '--ambient-caps=-all,+dac_override',
  '--securebits=+no_setuid_fixup',
];

/**
 * PostgreSQL refuses to run as root. Other users run it as themselves. Root runs it as the owner of an existing
 * cluster, otherwise as user postgres, otherwise as nobody. That user gets one capability, to traverse folders that
 * only root may enter, so that a clone under /root or in a private temporary folder works too.
 *
 * @throws StartFault when neither user exists, or setpriv (package util-linux) is missing.
 */
export function serverUser(cluster: string, env: NodeJS.ProcessEnv): ServerUser {
  if (process.getuid?.() !== 0) return { own: () => undefined, command: (command, args) => [command, args] };
  const { uid, gid } = ownerOf(cluster) ?? userNamed('postgres') ?? userNamed('nobody') ?? noUser();
  const setpriv = findProgram('setpriv', env);
  if (setpriv === undefined) {
    throw new StartFault(
      'PostgreSQL does not run as root, and setpriv (package util-linux), which runs it as another user, is missing. ' +
        'Install it, start as another user, or set DATABASE_URL to a server.',
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
