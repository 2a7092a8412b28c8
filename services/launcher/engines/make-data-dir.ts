import { chmodSync, mkdirSync } from 'node:fs';

/**
 * Makes the data directory, or makes an earlier one private: its owner's alone. Root runs PostgreSQL as another user,
 * who must be able to pass through to its own folder, but lists nothing; what else lies there is unreadable to that
 * user.
 */
export function makeDataDir(dataDir: string): void {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  mkdirSync(dataDir, { recursive: true, mode });
  chmodSync(dataDir, mode);
}
