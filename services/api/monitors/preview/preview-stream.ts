import type { PreviewAnswer, PreviewProgress } from '../../../../schemas/api/monitors/preview.ts';
import type { Logger } from '../../../../shared/runtime/logger.ts';
import type { AnswerStream } from '../../http/answer-stream.ts';
import { ApiError, ClientGone } from '../../http/api-error.ts';
import { toApiError } from '../../http/error-handler.ts';

export interface PreviewStreamOptions {
  /** Starts the preview. The signal aborts when the stream has ended. */
  run: (gone: AbortSignal) => AsyncGenerator<PreviewProgress, PreviewAnswer>;
  /** Gives the slot back; may be called twice. */
  release: () => void;
  logger: Logger;
}

const STALL_MS = 30_000;

/**
 * A preview as server-sent events: `progress` after each page of the archive, at last `result`, or `error` with the
 * envelope of errors. The slot is free before the result is sent, so that a client that reads slowly keeps none.
 */
export class PreviewStream implements AnswerStream {
  readonly stallMs = STALL_MS;
  readonly #options: PreviewStreamOptions;
  readonly #ending = new AbortController();

  constructor(options: PreviewStreamOptions) {
    this.#options = options;
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  end(): void {
    this.#ending.abort(new ClientGone());
  }

  close(): Promise<void> {
    this.#options.release();
    return Promise.resolve();
  }

  /** Never throws: an unexpected error is logged and sent as internal_error. */
  async *pieces(): AsyncGenerator<string> {
    // Proxies and clients see at once that it is open.
    yield ': the archive is being read\n\n';
    try {
      const run = this.#options.run(this.#ending.signal);
      let step = await run.next();
      while (!step.done) {
        yield eventText('progress', step.value);
        step = await run.next();
      }
      this.#options.release();
      yield eventText('result', step.value);
    } catch (error) {
      this.#options.release();
      if (!(error instanceof ClientGone)) yield eventText('error', this.#refusalOf(error).envelope);
    }
  }

  #refusalOf(error: unknown): ApiError {
    const known = toApiError(error);
    if (known !== undefined) return known;
    this.#options.logger.error({ err: error }, 'a streamed preview failed');
    return new ApiError('internal_error', 'Something broke on our side.');
  }
}

/** JSON has no line breaks, so `data` is one line. */
function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
