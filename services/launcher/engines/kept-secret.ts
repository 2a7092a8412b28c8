import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A random password of 192 bits in DATA_DIR/secrets/NAME, made at the first call and the same ever after. Only the
 * owner may read the file. It has letters, digits, dashes and underscores, so it needs no escaping anywhere.
 */
export function keptSecret(dataDir: string, name: string): string {
  const folder = join(dataDir, 'secrets');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const path = join(folder, name);
  const kept = readKept(path);
  if (kept !== undefined) return kept;
  // The file has its content when it gets its name, and the first of two starts wins.
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, randomBytes(24).toString('base64url'), { mode: 0o600 });
  try {
    rmSync(path, { force: true });
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readFileSync(path, 'utf8');
}

/** Undefined when there is none, or when it is damaged. */
function readKept(path: string): string | undefined {
  try {
    chmodSync(path, 0o600);
    const secret = readFileSync(path, 'utf8');
    return /^[\w-]{32}$/.test(secret) ? secret : undefined;
  } catch {
    return undefined;
  }
}
