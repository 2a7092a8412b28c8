import { chmodSync, mkdirSync } from 'node:fs';

/**
 * Creates the data directory, and restricts an existing one, so that only its owner has access. Root runs PostgreSQL as
 * another user: that user may traverse the directory to reach its own folder, but may not list it, and cannot read the
 * other files.
 */
export function makeDataDir(dataDir: string): void {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  mkdirSync(dataDir, { recursive: true, mode });
  chmodSync(dataDir, mode);
}
