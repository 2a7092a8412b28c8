import type { ZstdDecompress } from 'node:zlib';
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib';

/** Public dumps are compressed with windows of up to 2 GiB, which decoders refuse unless they are told. */
const WINDOW_LOG = 31;
/** More than any one chunk of input unpacks to in practice: a decoder must never wait for its reader within a write. */
const OUTPUT_BYTES = 1024 * 1024 * 1024;
const PROBE = Buffer.from('end');

/**
 * Unpacks zstd data of any number of frames. Node's own stream stops after the first frame without a word, so each
 * frame gets a decoder of its own where the one before left input unread.
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
    await refuseCut(decoder);
  } finally {
    decoder.destroy();
  }
}

function createDecoder(): ZstdDecompress {
  const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG };
  const options = { chunkSize: 1024 * 1024, params, readableHighWaterMark: OUTPUT_BYTES };
  const decoder = createZstdDecompress(options);
  // An error that comes between two writes is the next one's; without a listener it would end the process.
  decoder.on('error', () => undefined);
  return decoder;
}

/**
 * Resolves when the chunk is unpacked. The decoder forgets a write's callback when the write fails, hence the listener.
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
 * The decoder does not mind an input that ends within a frame. So it is given one more frame: at a frame's end it
 * unpacks that, anywhere else it takes it for something different.
 */
async function refuseCut(decoder: ZstdDecompress): Promise<void> {
  await write(decoder, zstdCompressSync(PROBE));
  if (!Buffer.concat([...unread(decoder)]).equals(PROBE)) throw new Error('unexpected end of zstd data');
}

function* unread(decoder: ZstdDecompress): Generator<Buffer> {
  for (let data = decoder.read() as Buffer | null; data !== null; data = decoder.read() as Buffer | null) yield data;
}
