import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { unpackZstd } from './zstd-frames.ts';

const FILE_CHUNK_BYTES = 64 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;
/** No post or comment is this long; a longer line is skipped. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** One line of a dump; `text` is undefined if the line is too long. */
export interface DumpLine {
  /** Counted from 1. */
  number: number;
  text: string | undefined;
}

/**
 * Yields the lines after the first `skip` ones of a plain, gzip or zstd file. The first bytes tell the formats apart.
 * Skipped lines are read, because a compressed file cannot be entered in the middle, but not decoded.
 *
 * @throws the error of a system call when the file cannot be read, another one when its compressed data is damaged
 */
export async function* readDumpLines(path: string, skip: number): AsyncGenerator<DumpLine> {
  let number = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of await openDump(path)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      number += 1;
      const tail = chunk.subarray(start, end);
      if (number > skip) yield { number, text: decode(pending, pendingBytes, tail) };
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    pendingBytes += rest.length;
    if (pendingBytes <= MAX_LINE_BYTES && rest.length > 0) pending.push(rest);
  }
  if (pendingBytes > 0 && number + 1 > skip) {
    yield { number: number + 1, text: decode(pending, pendingBytes, Buffer.alloc(0)) };
  }
}

function decode(pending: readonly Buffer[], pendingBytes: number, tail: Buffer): string | undefined {
  if (pendingBytes + tail.length > MAX_LINE_BYTES) return undefined;
  return pending.length === 0 ? tail.toString('utf8') : Buffer.concat([...pending, tail]).toString('utf8');
}

async function openDump(path: string): Promise<AsyncIterable<Buffer>> {
  const magic = await firstBytes(path);
  // Not before: while nobody listens to the stream, its error would end the process.
  const file = createReadStream(path, { highWaterMark: FILE_CHUNK_BYTES });
  if (magic.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) {
    return pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), ignore);
  }
  if (magic.equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]))) return unpackZstd(file);
  return file;
}

/** `pipeline` needs a callback; the reader of the last stream gets the same error. */
function ignore(): void {
  return;
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
