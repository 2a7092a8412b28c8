import { spawn } from 'node:child_process';

/** Recorded answers of the forum, one per line. Tests use the file if it exists; it is never part of the project. */
export const RECORDED = process.env.RECORDED_RESPONSES ?? '../shared/data/upstream-responses.jsonl.xz';

export interface RecordedResponse {
  method: string;
  uri: string;
  status: number;
  /** Parsed, where it was JSON. */
  body: unknown;
}

export async function readRecordedResponses(): Promise<RecordedResponse[]> {
  const child = spawn('xz', ['-dc', RECORDED], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) chunks.push(chunk);
  // readline does not work here: it treats U+2028 inside a text as the end of a line.
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as RecordedResponse);
}

/** All `{kind, data}` nodes of a value at any depth, with their path. */
export function* nodesOf(value: unknown, where: string): Generator<{ kind: string; data: object; where: string }> {
  if (typeof value !== 'object' || value === null) return;
  const { kind, data } = value as { kind?: unknown; data?: unknown };
  if (typeof kind === 'string' && typeof data === 'object' && data !== null) yield { kind, data, where };
  for (const [name, entry] of Object.entries(value)) yield* nodesOf(entry, `${where}.${name}`);
}
