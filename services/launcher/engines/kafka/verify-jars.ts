import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StartFault } from '../start-fault.ts';

/** SHA-256 digests, in hexadecimal, by file name. */
export type Checksums = ReadonlyMap<string, string>;

/** Parses the output of `sha256sum *.jar`. */
export function parseChecksums(text: string): Checksums {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

/**
 * Compares the jars of a folder with their checksums: every listed jar must exist with that content, and there must be
 * no other jar. Reads 43 MB, in about 0.1 s.
 *
 * @throws StartFault that names the missing, changed and unknown jars.
 */
export function verifyJars(folder: string, checksums: Checksums): void {
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
