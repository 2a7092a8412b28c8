import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** An input of the user is unusable. For a file, the message names the line. */
export class Unusable extends Error {}

export interface FileMonitor {
  id: string;
  /** The digits of the id. */
  number: number;
  keywords: string[];
  exclude: string[];
}

/**
 * JSON lines of {"id": "m1", "keywords": ["…"], "exclude": ["…"]}; exclude may be missing, other fields are ignored.
 */
export async function* readMonitors(file: string): AsyncGenerator<FileMonitor> {
  for await (const { value, where } of jsonLines(file)) {
    const { id, keywords, exclude = [] } = value;
    if (typeof id !== 'string' && typeof id !== 'number') throw new Unusable(`${where}: id must be a string`);
    if (!isTermList(keywords)) throw new Unusable(`${where}: keywords must be a list of strings`);
    if (!isTermList(exclude)) throw new Unusable(`${where}: exclude must be a list of strings`);
    const number = Number(String(id).replace(/\D/g, ''));
    if (!Number.isSafeInteger(number)) throw new Unusable(`${where}: the number in the id is too large`);
    yield { id: String(id), number, keywords, exclude };
  }
}

/** JSON lines of {"text": "…"}. Other fields are ignored. */
export async function* readItems(file: string): AsyncGenerator<string> {
  for await (const { value, where } of jsonLines(file)) {
    if (typeof value.text !== 'string') throw new Unusable(`${where}: text must be a string`);
    yield value.text;
  }
}

function isTermList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((term) => typeof term === 'string');
}

async function* jsonLines(file: string): AsyncGenerator<{ value: Record<string, unknown>; where: string }> {
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      number++;
      if (line.trim() === '') continue;
      const where = `${file}, line ${number}`;
      yield { value: parsedObject(line, where), where };
    }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw new Unusable(`${file} cannot be read: ${error.message}`);
    throw error;
  }
}

function parsedObject(line: string, where: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Unusable(`${where}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Unusable(`${where}: must be a JSON object`);
  }
  return value as Record<string, unknown>;
}
