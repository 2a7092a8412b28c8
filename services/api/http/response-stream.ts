import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { errorCode } from '../../../shared/runtime/errors.ts';
import { ClientDisconnected } from './api-error.ts';

export interface ResponseStream {
  /** The content of the stream. The next piece is requested once the client has taken the previous one. */
  pieces(): AsyncIterable<string | Uint8Array>;
  /**
   * Aborted when either side ends the stream: no more pieces follow, and a client with unread pieces is disconnected.
   */
  ended: AbortSignal;
  /** Ends the stream; call it when the client has disconnected. */
  end(): void;
  /** Called once, after the last piece. */
  close(): Promise<void>;
  /** A client that reads nothing for this many milliseconds is disconnected. */
  stallMs: number;
}

interface StreamOptions {
  stallMs: number;
  /** A client that has not taken everything after this many milliseconds is disconnected. */
  deadlineMs?: number;
  /** Called once, after the last piece. */
  release?: () => void;
}

/** A stream of pieces. One that is ended before its last piece breaks off, so that it does not look complete. */
export function streamOf(
  pieces: (ended: AbortSignal) => AsyncIterable<string | Uint8Array>,
  { stallMs, deadlineMs, release }: StreamOptions,
): ResponseStream {
  const ending = new AbortController();
  const end = () => ending.abort(new ClientDisconnected());
  const deadline = deadlineMs === undefined ? undefined : setTimeout(end, deadlineMs);
  return {
    async *pieces() {
      for await (const piece of pieces(ending.signal)) {
        ending.signal.throwIfAborted();
        yield piece;
      }
    },
    ended: ending.signal,
    end,
    close() {
      clearTimeout(deadline);
      release?.();
      return Promise.resolve();
    },
    stallMs,
  };
}

export const EVENT_STREAM = 'text/event-stream';
/** Without X-Accel-Buffering, some proxies buffer pieces until they have many. */
export const SSE_HEADERS = { 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };

/** The body of a streamed response. It is not opened for HEAD requests. */
export class StreamedBody {
  /** @throws ApiError when the stream cannot be opened; that error becomes the response */
  readonly open: () => Promise<ResponseStream>;

  constructor(open: StreamedBody['open']) {
    this.open = open;
  }
}

/** Error codes of a response whose client has disconnected. */
const DISCONNECTED = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);

/** Sends a stream as the body of a response whose head is ready. Resolves once the stream has ended and is closed. */
export async function sendStream(stream: ResponseStream, response: Response): Promise<void> {
  const cutOff = () => {
    if (response.writableLength > 0) response.destroy();
  };
  stream.ended.addEventListener('abort', cutOff, { once: true });
  response.once('close', () => stream.end());
  // The middleware and the pipeline each wait for the close: a dozen listeners, and Node warns from eleven on.
  response.setMaxListeners(20);
  response.setTimeout(stream.stallMs);
  try {
    await pipeline(stream.pieces(), response);
  } catch (error) {
    if (!DISCONNECTED.has(errorCode(error) ?? '')) throw error;
  } finally {
    stream.end();
    await stream.close();
  }
}
