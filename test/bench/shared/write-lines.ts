import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Writes the file, a JSON line for each value; they may be more than fit into the memory. */
export async function writeLines(file: string, values: Iterable<object>): Promise<void> {
  const lines = function* () {
    for (const value of values) yield `${JSON.stringify(value)}\n`;
  };
  await pipeline(lines, createWriteStream(file));
}
