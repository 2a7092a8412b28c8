import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StartFault } from '../start-fault.ts';

/** A jar whose content is fixed. */
export interface PinnedJar {
  /** Its path in a Maven repository. */
  path: string;
  /** Its file name. */
  file: string;
  /** SHA-256, in hexadecimal. */
  digest: string;
}

/** Parses the output of `sha256sum`, run in a Maven repository. */
export function parseJars(text: string): PinnedJar[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => ({ path: line.slice(66), file: basename(line.slice(66)), digest: line.slice(0, 64) }));
}

/**
 * Compares the jars of a folder with their checksums: every listed jar must exist with that content, and there must be
 * no other jar. Reads 43 MB, in about 0.1 s.
 *
 * @throws StartFault that names the missing, changed and unknown jars.
 */
export function verifyJars(folder: string, jars: readonly PinnedJar[]): void {
  const checksums = new Map(jars.map(({ file, digest }) => [file, digest]));
  const unknown = readdirSync(folder).filter((file) => file.endsWith('.jar') && !checksums.has(file));
  const wrong = [...checksums]
    .filter(([file, digest]) => digestOf(join(folder, file)) !== digest)
    .map(([file]) => file);
  const faulty = [...wrong, ...unknown];
  if (faulty.length === 0) return;
  throw new StartFault(
    `These jars of Kafka in ${folder} do not have the expected checksums: ${faulty.join(', ')}.\n` +
      'Delete that folder to download them again. If they still differ, your Maven repository or mirror serves other files.',
  );
}

function digestOf(file: string): string | undefined {
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : undefined;
}
