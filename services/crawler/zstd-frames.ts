import type { ZstdDecompress } from 'node:zlib';
import { constants, createZstdDecompress } from 'node:zlib';

/** Public dumps are compressed with windows of up to 2 GiB, which decoders refuse unless they are told. */
const WINDOW_LOG = 31;
/** More than any one chunk of input unpacks to in practice: a decoder must never wait for its reader within a write. */
const OUTPUT_BYTES = 1024 * 1024 * 1024;

/**
 * Unpacks zstd data of any number of frames. Node's own stream stops after the first frame without a word, so each frame
 * gets a decoder of its own where the one before left input unread.
 *
 * @throws what the decoder throws for damaged or cut data.
 */
export async function* unpackZstd(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder = createDecoder();
  try {
    for await (const chunk of input) {
      let rest = chunk;
      while (rest.length > 0) {
        const before = decoder.bytesWritten;
        await write(decoder, rest);
        yield* unread(decoder);
        rest = rest.subarray(decoder.bytesWritten - before);
        if (rest.length === 0) break;
        if (before === 0 && decoder.bytesWritten === 0) throw new Error('zstd data could not be read');
        decoder.destroy();
        decoder = createDecoder();
      }
    }
    await end(decoder);
    yield* unread(decoder);
  } finally {
    decoder.destroy();
  }
}

function createDecoder(): ZstdDecompress {
  const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG };
  const options = { chunkSize: 1024 * 1024, params, readableHighWaterMark: OUTPUT_BYTES };
  const decoder = createZstdDecompress(options);
  // Errors come back through the callbacks of write and end; without a listener they would also end the process.
  decoder.on('error', () => undefined);
  return decoder;
}

function write(decoder: ZstdDecompress, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    decoder.write(chunk, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

function end(decoder: ZstdDecompress): Promise<void> {
  return new Promise((resolve, reject) => {
    decoder.once('error', reject);
    decoder.end(resolve);
  });
}

function* unread(decoder: ZstdDecompress): Generator<Buffer> {
  for (let data = decoder.read() as Buffer | null; data !== null; data = decoder.read() as Buffer | null) yield data;
}
