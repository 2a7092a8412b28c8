import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';

/** Smaller bodies fit one packet anyway. */
const LEAST_BYTES = 1_024;
/** At their lowest levels both take about a millisecond for 100 KB of JSON, in the thread pool. */
const ENCODERS = {
  br: (body: Uint8Array) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (body: Uint8Array) => promisify(gzip)(body, { level: 1 }),
} as const;
type Encoding = keyof typeof ENCODERS;
/** Pages are left out: their size could reveal a secret beside reflected input (BREACH). */
const COMPRESSIBLE = /^(?:application\/(?:(?:feed\+)?json|atom\+xml)|text\/(?:css|csv|javascript|markdown))(?:;|$)/;

/**
 * Sends bodies of more than 1 KiB with brotli or gzip to clients that accept it. A body is compressed whole, once it is
 * complete and before its head is sent: a client that does not read its answer then keeps compressed bytes, which the
 * server counts and limits as before, and no state of a compressor. Answers that are written in pieces (event streams)
 * stay as they are.
 */
export function createCompression(): RequestHandler {
  const compressed = new CompressedBodies();
  return (request, response, next) => {
    // The first to set it; others append.
    response.setHeader('Vary', 'Accept-Encoding');
    const end = response.end.bind(response) as (...given: unknown[]) => Response;
    const compressingEnd = (...given: unknown[]): Response => {
      const [body, charset] = given;
      const encoding = encodingFor(request, response, lengthOf(body, response));
      if (encoding === undefined) return end(...given);
      // Without its body, the length of a compressed answer is not known.
      response.removeHeader('Content-Length');
      if (!isBody(body)) return end(...given);
      const bytes = typeof body === 'string' ? Buffer.from(body, charset as BufferEncoding) : body;
      void compressed.get(bytes, encoding).then((short) => {
        // Another answer came first, such as an error's: a throw in here would end the process.
        if (response.headersSent) return;
        if (short !== undefined) response.set('Content-Encoding', encoding);
        response.set('Content-Length', String((short ?? bytes).length));
        // Without effect when the client has disconnected.
        end(short ?? bytes);
      });
      return response;
    };
    response.end = compressingEnd as typeof response.end;
    next();
  };
}

/** The compressed forms of bodies, as long as a body itself is kept: large documents are the same for all clients. */
class CompressedBodies {
  private readonly known = new WeakMap<Uint8Array, Map<Encoding, Promise<Buffer | undefined>>>();

  /** @returns undefined when there was no memory for it */
  get(body: Uint8Array, encoding: Encoding): Promise<Buffer | undefined> {
    const forms = this.known.get(body) ?? new Map<Encoding, Promise<Buffer | undefined>>();
    this.known.set(body, forms);
    const form = forms.get(encoding) ?? ENCODERS[encoding](body).catch(() => undefined);
    forms.set(encoding, form);
    return form;
  }
}

function isBody(given: unknown): given is string | Uint8Array {
  return typeof given === 'string' || given instanceof Uint8Array;
}

/** The bytes of a body, or of the one that HEAD leaves out. */
function lengthOf(body: unknown, response: Response): number {
  if (isBody(body)) return Buffer.byteLength(body);
  return response.req.method === 'HEAD' ? Number(response.get('Content-Length') ?? 0) : 0;
}

function encodingFor(request: Request, response: Response, length: number): Encoding | undefined {
  if (length <= LEAST_BYTES || response.headersSent || response.hasHeader('Content-Encoding')) return undefined;
  if (!COMPRESSIBLE.test(response.get('Content-Type') ?? '')) return undefined;
  return acceptedEncoding(request);
}

/** What clients ask for has few values, whose negotiation is remembered; a client may send any, so it is bounded. */
const negotiated = new Map<string, Encoding | undefined>();
const MOST_NEGOTIATED = 100;
const LONGEST_NEGOTIATED = 200;

function acceptedEncoding(request: Request): Encoding | undefined {
  const asked = request.get('Accept-Encoding');
  if (asked === undefined) return undefined;
  if (negotiated.has(asked)) return negotiated.get(asked);
  const accepted = request.acceptsEncodings(...Object.keys(ENCODERS), 'identity');
  const encoding = accepted === 'br' || accepted === 'gzip' ? accepted : undefined;
  if (asked.length > LONGEST_NEGOTIATED) return encoding;
  if (negotiated.size >= MOST_NEGOTIATED) negotiated.clear();
  negotiated.set(asked, encoding);
  return encoding;
}
