import { readFileSync } from 'node:fs';

// Lists the licences of what a production installation contains, by package-lock.json. Ends with code 1 when one is
// not among those that ask for no more than to be named.
const ACCEPTED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  // Of fonts.
  'OFL-1.1',
  'Public Domain',
]);
/** More than so many packages are only counted. */
const NAMED = 12;

interface Locked {
  version: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  os?: string[];
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
const byLicence = new Map<string, string[]>();
for (const [path, locked] of Object.entries(packages)) {
  if (path === '' || locked.dev === true || locked.devOptional === true) continue;
  // The lock file does not know the licence of programs for other platforms.
  const licence = locked.license ?? (locked.os === undefined ? 'unknown' : 'of another platform');
  const name = `${path.replace(/^.*node_modules\//, '')}@${locked.version}`;
  byLicence.set(licence, [...(byLicence.get(licence) ?? []), name]);
}
for (const [licence, names] of [...byLicence].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const isAccepted = ACCEPTED.has(licence) || licence === 'of another platform';
  if (!isAccepted) process.exitCode = 1;
  const shown = isAccepted && names.length > NAMED ? '' : `: ${names.join(', ')}`;
  console.log(`${licence} (${names.length}${isAccepted ? '' : ', not accepted'})${shown}`);
}
