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
 * The whole body of a request, decompressed. @throws Error in the engine's own shape, for a body of more than
 * `mostBytes` too.
 */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > mostBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const raw = Buffer.concat(chunks);
  const body = encoding === 'identity' || raw.length === 0 ? raw : await decode(encoding, raw, mostBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new Error('Code: 48. DB::Exception: The embedded engine takes text formats only. (NOT_IMPLEMENTED)');
  }
}

function tooLarge(): Error {
  return new Error('Code: 307. DB::Exception: The body is too large. (TOO_MANY_BYTES)');
}

async function decode(encoding: string, body: Buffer, mostBytes: number): Promise<Buffer> {
  const decoder = DECODERS[encoding];
  if (decoder === undefined) {
    throw new Error(`Code: 48. DB::Exception: Unknown Content-Encoding ${encoding}. (NOT_IMPLEMENTED)`);
  }
  try {
    return await decoder(body, Number.isFinite(mostBytes) ? { maxOutputLength: mostBytes } : {});
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : error;
  }
}

/** Compresses an answer when the client asked for it in both of ClickHouse's ways. */
export async function encodeBody(
  body: Uint8Array,
  request: IncomingMessage,
  search: URLSearchParams,
): Promise<{ body: Uint8Array; encoding: string | undefined }> {
  const accepted = request.headers['accept-encoding'] ?? '';
  const wanted = search.get('enable_http_compression') === '1' && accepted.includes('gzip') && body.length > 0;
  return wanted ? { body: await promisify(gzip)(body), encoding: 'gzip' } : { body, encoding: undefined };
}
