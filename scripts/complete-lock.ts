/**
 * Completes package-lock.json so that `npm ci` accepts it in a fresh clone.
 *
 * npm leaves the optional package of a platform out of the lock when the registry does not have it, and then rejects
 * the lock as incomplete. This script adds {version, optional, os, cpu} for every optionalDependencies name without an
 * entry. Run it (`npm run lock`) after each install that rewrites the lock; test/architecture fails when an entry is
 * missing.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockEntry {
  version?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  optionalDependencies?: Record<string, string>;
}
interface Lock {
  packages: Record<string, LockEntry>;
}

const PLATFORMS = [
  'darwin',
  'linux',
  'win32',
  'android',
  'freebsd',
  'openbsd',
  'netbsd',
  'sunos',
  'aix',
  'openharmony',
];
const CPUS = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el'];

/** Returns the names and versions of optional dependencies that have no entry in the lock. */
export function missingOptionalEntries(lock: Lock): { name: string; version: string }[] {
  const present = new Set(Object.keys(lock.packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  const missing = new Map<string, string>();
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!present.has(name)) missing.set(name, version);
    }
  }
  return [...missing].map(([name, version]) => ({ name, version }));
}

/** Adds the missing entries; derives os and cpu from the parts of the package name. */
function completed(lock: Lock): Lock {
  const packages = { ...lock.packages };
  for (const { name, version } of missingOptionalEntries(lock)) {
    const words = name.split(/[-/_@]/);
    const os = PLATFORMS.filter((platform) => words.includes(platform));
    const cpu = CPUS.filter((arch) => words.includes(arch));
    packages[`node_modules/${name}`] = {
      version: version.replace(/^[~^]/, ''),
      optional: true,
      ...(os.length ? { os } : {}),
      ...(cpu.length ? { cpu } : {}),
    };
  }
  const [root, ...rest] = Object.entries(packages);
  rest.sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...lock, packages: Object.fromEntries(root ? [root, ...rest] : rest) };
}

if (import.meta.main) {
  const path = new URL('../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(path, 'utf8')) as Lock;
  const added = missingOptionalEntries(lock);
  writeFileSync(path, JSON.stringify(completed(lock), null, 2) + '\n');
  console.log(`package-lock.json: ${added.length} optional entries added`);
}
