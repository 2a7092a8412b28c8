import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { constants, createGunzip, createZstdDecompress, zstdCompressSync } from 'node:zlib';
import type { ZstdDecompress } from 'node:zlib';
import type { ParsedThing } from '../../../shared/forum-client/parse-things.ts';
import { parseThing } from '../../../shared/forum-client/parse-things.ts';

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

/** Public dumps use compression windows of up to 2 GiB, which decoders refuse by default. */
const WINDOW_LOG = 31;
/** More than any chunk of input unpacks to in practice: a write would hang if the decoder waited for its reader. */
const OUTPUT_BYTES = 1024 * 1024 * 1024;
const PROBE = Buffer.from('end');

/**
 * Unpacks zstd data of any number of frames. Node's stream silently stops after the first frame, so the input that a
 * decoder left unread goes to a new decoder.
 *
 * @throws an error of the decoder, or "unexpected end of zstd data", for damaged or truncated data.
 */
async function* unpackZstd(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder = createDecoder();
  try {
    for await (const chunk of input) {
      let unreadInput = chunk;
      while (unreadInput.length > 0) {
        const before = decoder.bytesWritten;
        await write(decoder, unreadInput);
        yield* unread(decoder);
        unreadInput = unreadInput.subarray(decoder.bytesWritten - before);
        if (unreadInput.length === 0) break;
        if (before === 0 && decoder.bytesWritten === 0) throw new Error('zstd data could not be read');
        decoder.destroy();
        decoder = createDecoder();
      }
    }
    await refuseTruncated(decoder);
  } finally {
    decoder.destroy();
  }
}

function createDecoder(): ZstdDecompress {
  const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG };
  const options = { chunkSize: 1024 * 1024, params, readableHighWaterMark: OUTPUT_BYTES };
  const decoder = createZstdDecompress(options);
  // The next write reports an error that occurs between two writes; without a listener it would end the process.
  decoder.on('error', () => undefined);
  return decoder;
}

/**
 * Resolves when the chunk is unpacked. The decoder does not call a write's callback when the write fails, hence the
 * error listener.
 */
function write(decoder: ZstdDecompress, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    decoder.once('error', reject);
    decoder.write(chunk, (error) => {
      decoder.off('error', reject);
      if (error) reject(error);
      else resolve();
    });
  });
}

/**
 * Throws if the input ended within a frame, which the decoder itself does not report. The check writes one more frame:
 * the decoder unpacks it correctly only at the end of a frame.
 */
async function refuseTruncated(decoder: ZstdDecompress): Promise<void> {
  await write(decoder, zstdCompressSync(PROBE));
  if (!Buffer.concat([...unread(decoder)]).equals(PROBE)) throw new Error('unexpected end of zstd data');
}

function* unread(decoder: ZstdDecompress): Generator<Buffer> {
  for (let data = decoder.read() as Buffer | null; data !== null; data = decoder.read() as Buffer | null) yield data;
}

interface DumpEntry {
  parsed: ParsedThing;
  /** True for a bare `data` object, as in public dumps, false for `{kind, data}`. */
  isBare: boolean;
}

/** Parses one line of a dump. The fields of a bare object tell its kind: comments have `body`, posts have `title`. */
export function parseDumpLine(text: string): DumpEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { parsed: { outcome: 'fault', fault: { path: '', message: 'is not JSON' } }, isBare: false };
  }
  if (typeof value !== 'object' || value === null) {
    return { parsed: { outcome: 'fault', fault: { path: '', message: 'is not an object' } }, isBare: false };
  }
  if ('kind' in value && 'data' in value) return { parsed: parseThing(value, ''), isBare: false };
  const kind = 'body' in value ? 't1' : 'title' in value ? 't3' : 'unknown';
  return { parsed: parseThing({ kind, data: value }, ''), isBare: true };
}
