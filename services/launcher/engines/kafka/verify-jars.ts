import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StartFault } from '../start-fault.ts';

/** SHA-256 digests, in hexadecimal, by file name. */
export type Checksums = ReadonlyMap<string, string>;

/** Parses what `sha256sum *.jar` prints. */
export function parseChecksums(text: string): Checksums {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

/**
 * Compares the jars of a folder with their checksums: every jar listed must be there with that content, and no other
 * jar may be on the class path. It reads all of them: 43 MB, about 0.1 s.
 *
 * @throws StartFault that names the jars that are missing, changed or unknown.
 */
export function verifyJars(folder: string, checksums: Checksums): void {
  const unknown = readdirSync(folder).filter((file) => file.endsWith('.jar') && !checksums.has(file));
  const wrong = [...checksums]
    .filter(([file, digest]) => digestOf(join(folder, file)) !== digest)
    .map(([file]) => file);
  const faulty = [...wrong, ...unknown];
  if (faulty.length === 0) return;
  throw new StartFault(
    `Jars of Kafka in ${folder} do not have the checksums that this version expects: ${faulty.join(', ')}.\n` +
      'Delete that folder to fetch them again. If they differ again, the Maven repository or its mirror gives other files.',
  );
}

function digestOf(file: string): string | undefined {
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : undefined;
}
