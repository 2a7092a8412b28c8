import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { errorCode } from '../../../shared/runtime/errors.ts';

/** An open stream, made while it is sent. */
export interface AnswerStream {
  /** Its text. The next piece is asked for when the client took the one before. */
  pieces(): AsyncIterable<string>;
  /**
   * Aborted by whoever ends it first: its pieces end then, and a client that has not taken the last ones is cut off.
   */
  over: AbortSignal;
  /** Ends it. To be called when its client is gone. */
  end(): void;
  /** Called once, after the last piece. */
  close(): Promise<void>;
  /** A client that takes nothing for so many milliseconds is cut off. */
  stallMs: number;
}

/** The body of an answer that is a stream; opened when the request is not a HEAD. */
export class StreamedBody {
  /** @throws ApiError when it cannot be opened; the answer is that error then */
  readonly open: () => Promise<AnswerStream>;

  constructor(open: StreamedBody['open']) {
    this.open = open;
  }
}

/** Errors of a response whose client is gone. */
const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);

/** Sends a stream as the body of a response whose head is ready. Resolves when it is over and closed. */
export async function sendStream(stream: AnswerStream, response: Response): Promise<void> {
  const cutOff = () => {
    if (response.writableLength > 0) response.destroy();
  };
  stream.over.addEventListener('abort', cutOff, { once: true });
  response.once('close', () => stream.end());
  response.setTimeout(stream.stallMs);
  try {
    await pipeline(stream.pieces(), response);
  } catch (error) {
    if (!GONE.has(errorCode(error) ?? '')) throw error;
  } finally {
    stream.end();
    await stream.close();
  }
}
