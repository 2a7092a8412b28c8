import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A random password of 192 bits in DATA_DIR/secrets/NAME, created by the first call. It needs no escaping. */
export function persistedSecret(dataDir: string, name: string): string {
  const folder = join(dataDir, 'secrets');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const path = join(folder, name);
  const kept = readSecret(path);
  if (kept !== undefined) return kept;
  const secret = randomBytes(24).toString('base64url');
  writeFileSync(`${path}.new`, secret, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return secret;
}

/** Undefined if it is missing or damaged. */
function readSecret(path: string): string | undefined {
  try {
    chmodSync(path, 0o600);
    const secret = readFileSync(path, 'utf8');
    return /^[\w-]{32}$/.test(secret) ? secret : undefined;
  } catch {
    return undefined;
  }
}
