import type { ZstdDecompress } from 'node:zlib';
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib';

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
export async function* unpackZstd(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
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
