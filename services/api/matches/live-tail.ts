import type { LiveTailEnd } from '../../../schemas/api/matches.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { rejectOnAbort } from '../../../shared/runtime/errors.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Semaphore } from '../../../shared/runtime/semaphore.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { readLiveTailPage } from '../../../shared/matches/live-tails.ts';
import type { LiveTailPage } from '../../../shared/matches/live-tails.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { matchResource } from '../../../shared/matches/rules/match-resource.ts';
import type { TailRequest } from './live-tails.ts';

/** Intervals and time limits of live tails, in milliseconds. */
export const LIVE_TAIL_TIMING = {
  /** How often a stream looks for new matches when nothing wakes it. */
  pollMs: 10_000,
  /** After so long without output the stream sends a comment, so that no proxy considers it dead. */
  heartbeatMs: 15_000,
  /** A client that reads nothing for so long is disconnected. */
  stallMs: 60_000,
  /** What was read so long ago is read again: its reader may have lost access meanwhile. */
  pageMs: 1_000,
  /** How often the leases of stream slots are renewed. */
  renewMs: 15_000,
  /** How long a slot stays taken after its process was killed. */
  leaseMs: 60_000,
};
export type LiveTailTiming = typeof LIVE_TAIL_TIMING;

interface LiveTailDeps extends Omit<TailRequest, 'accountId'> {
  db: Queryable;
  /** Shared by the streams of a process. */
  turns: Semaphore;
  logger: Logger;
  metrics: Metrics;
  timing: LiveTailTiming;
  /** Called once, after the last piece. */
  onClosed: () => Promise<void>;
}

/** Matches per page: the most a stream buffers for a client that reads slowly. */
const PAGE = 50;

/**
 * One stream. When it is its turn, it reads a page after the last match it sent, and sends it. After a page that was
 * not full it waits until it is woken or the next poll is due. A wake-up during a read causes another read, so no match
 * recorded before the wake-up is missed. A stream that has ended never starts again.
 */
export class LiveTail implements ResponseStream {
  readonly stallMs: number;
  readonly monitorId: string;
  private readonly ending = new AbortController();
  readonly ended = this.ending.signal;
  private readonly options: LiveTailDeps;
  private position: number;
  /** Aborted when there may be matches that the last read did not see. */
  private waking = new AbortController();
  private readAt = 0;
  private sentAt = 0;
  /** A comment waits for the client to take it. */
  private isHeldUp = false;

  constructor(options: LiveTailDeps) {
    this.options = options;
    this.position = options.afterSeq;
    this.stallMs = options.timing.stallMs;
    this.monitorId = options.monitorId;
  }

  /** Call when there may be a new match. */
  wake(): void {
    this.waking.abort();
  }

  end(): void {
    this.ending.abort();
    this.wake();
  }

  close(): Promise<void> {
    return this.options.onClosed();
  }

  /** Never throws: an unexpected error is logged and ends the stream, and the client reconnects. */
  async *pieces(): AsyncGenerator<string> {
    const { turns, timing, logger, monitorId } = this.options;
    try {
      yield this.sending(STREAM_BEGIN);
      for (;;) {
        const page = yield* this.waitFor(turns.run('', () => this.read(), this.ended));
        if (page === undefined) continue;
        yield* this.send(page);
        if (page.end !== undefined) return;
        if (page.matches.length < PAGE) yield* this.waitFor(delay(timing.pollMs, this.waking.signal));
      }
    } catch (error) {
      if (!this.ended.aborted) logger.error({ err: error, monitorId }, 'a live tail failed');
    }
  }

  /** Undefined when the client takes nothing: it would keep the turn from the others, and get an old page. */
  private async read(): Promise<LiveTailPage | undefined> {
    const { db, holder, monitorId, logger } = this.options;
    if (this.isHeldUp) return undefined;
    this.waking = new AbortController();
    try {
      const page = await readLiveTailPage(db, { holder, monitorId, afterSeq: this.position, limit: PAGE });
      this.readAt = performance.now();
      return page;
    } catch (error) {
      if (!isPostgresUnavailable(error)) throw error;
      logger.debug({ err: error, monitorId }, 'a live tail could not read; it tries again');
      return { end: undefined, matches: [] };
    }
  }

  private async *send({ end, matches }: LiveTailPage): AsyncGenerator<string> {
    const { monitorId, metrics, timing, eventOf } = this.options;
    for (const match of matches) {
      if (performance.now() - this.readAt > timing.pageMs) {
        this.wake();
        return;
      }
      this.position = match.seq;
      metrics.liveTailEvents.inc();
      yield this.sending(eventOf(matchResource(monitorId, match)));
      this.ended.throwIfAborted();
    }
    if (end !== undefined) yield this.sending(endEvent(end));
  }

  /**
   * Waits for work, and sends comments meanwhile.
   *
   * @throws the reason of `ended` as soon as the stream ends, however long the work still takes
   */
  private async *waitFor<T>(work: Promise<T>): AsyncGenerator<string, T> {
    const done = work.then((value) => ({ value }));
    // Nobody waits for it while a comment is taken.
    done.catch(() => undefined);
    for (;;) {
      const waited = new AbortController();
      const silence = Math.max(0, this.sentAt + this.options.timing.heartbeatMs - performance.now());
      const silent = delay(silence, waited.signal).then(() => undefined);
      const first = await rejectOnAbort(Promise.race([done, silent]), this.ended).finally(() => waited.abort());
      if (first !== undefined) return first.value;
      this.isHeldUp = true;
      yield this.sending(HEARTBEAT);
      this.isHeldUp = false;
    }
  }

  private sending(piece: string): string {
    this.sentAt = performance.now();
    return piece;
  }
}

// The format is "Server-sent events" of the HTML standard. JSON has no line breaks, so each `data` is one line.

/** How long a client waits before it reconnects, in milliseconds. */
const RETRY_MS = 3_000;

/** The first bytes of a stream: proxies and clients see at once that it is open. */
export const STREAM_BEGIN = `retry: ${RETRY_MS}\n: the stream is open\n\n`;

export const HEARTBEAT = ':\n\n';

/** One match. A client that reconnects sends its id as `Last-Event-ID`. */
export function matchEvent(match: MonitorMatch): string {
  return `id: ${match.id}\nevent: match\ndata: ${JSON.stringify(match)}\n\n`;
}

export function itemEvent(matchId: string, entry: { id: string; markup: string }): string {
  return `id: ${matchId}\nevent: item\ndata: ${JSON.stringify(entry)}\n\n`;
}

/** The last event of a stream that the client must not reopen. */
export function endEvent(reason: LiveTailEnd): string {
  return `event: end\ndata: ${JSON.stringify({ reason })}\n\n`;
}
