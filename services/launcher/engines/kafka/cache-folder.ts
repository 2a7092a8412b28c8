import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { EngineContext } from '../engine.ts';
import { StartFault } from '../start-fault.ts';

/**
 * Returns the folder for what all clones of a user share, and creates it; in the data directory where the user's cache
 * is not writable.
 *
 * @throws StartFault when neither is writable
 */
export function cacheFolder({ env, dataDir }: Pick<EngineContext, 'env' | 'dataDir'>): string {
  const cache = userCache(env);
  const folders = [...(cache === undefined ? [] : [join(cache, 'forum-monitor')]), join(dataDir, 'cache')];
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // The home folder is not writable; try the data directory.
    }
  }
  throw new StartFault(`Kafka's jars cannot be stored: not writable is ${folders.join(', nor ')}.`);
}

function userCache(env: NodeJS.ProcessEnv): string | undefined {
  const cache = absolute(env['XDG_CACHE_HOME']);
  if (cache !== undefined) return cache;
  const home = absolute(env['HOME']) ?? absolute(homedir());
  return home === undefined ? undefined : join(home, '.cache');
}

/** Empty and relative paths are to be ignored (XDG Base Directory Specification); a relative one differs by clone. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
