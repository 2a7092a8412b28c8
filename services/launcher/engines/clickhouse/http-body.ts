import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, gzip, inflate, zstdDecompress } from 'node:zlib';

const DECODERS: Record<string, (body: Buffer, options: { maxOutputLength?: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/**
 * Reads and decompresses the body of a request. @throws Error in the engine's format, also for more than `maxBytes`.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const raw = Buffer.concat(chunks);
  const body = encoding === 'identity' || raw.length === 0 ? raw : await decode(encoding, raw, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new Error('Code: 48. DB::Exception: The embedded engine takes text formats only. (NOT_IMPLEMENTED)');
  }
}

function tooLarge(): Error {
  return new Error('Code: 307. DB::Exception: The body is too large. (TOO_MANY_BYTES)');
}

async function decode(encoding: string, body: Buffer, maxBytes: number): Promise<Buffer> {
  const decoder = DECODERS[encoding];
  if (decoder === undefined) {
    throw new Error(`Code: 48. DB::Exception: Unknown Content-Encoding ${encoding}. (NOT_IMPLEMENTED)`);
  }
  try {
    return await decoder(body, Number.isFinite(maxBytes) ? { maxOutputLength: maxBytes } : {});
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : error;
  }
}

/** Compresses a result if the client requests it both by Accept-Encoding and by enable_http_compression. */
export async function encodeBody(
  body: Uint8Array,
  request: IncomingMessage,
  search: URLSearchParams,
): Promise<{ body: Uint8Array; encoding: string | undefined }> {
  const accepted = request.headers['accept-encoding'] ?? '';
  const compress = search.get('enable_http_compression') === '1' && accepted.includes('gzip') && body.length > 0;
  return compress ? { body: await promisify(gzip)(body), encoding: 'gzip' } : { body, encoding: undefined };
}
