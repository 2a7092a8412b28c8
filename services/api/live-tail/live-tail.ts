import type { LiveTailEnd } from '../../../schemas/api/matches.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { isPostgresAway } from '../../../shared/postgres/postgres-away.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Semaphore } from '../../../shared/runtime/semaphore.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { readLiveTailPage } from '../../../shared/stores/matches/live-tails.ts';
import type { LiveTailHolder, LiveTailPage } from '../../../shared/stores/matches/live-tails.ts';
import type { AnswerStream } from '../http/answer-stream.ts';
import { matchResource } from '../../../shared/domain/match-resource.ts';

/** Intervals and time limits of live tails, in milliseconds. */
export interface LiveTailTiming {
  /** How often a stream looks for new matches when nothing wakes it. */
  pollMs: number;
  /** After this long without output the stream sends a comment, so that no proxy considers it dead. */
  heartbeatMs: number;
  /** A client that reads nothing for this long is disconnected. */
  stallMs: number;
  /**
   * A page that took longer to send is read again from the last match sent: its reader may have lost access in the
   * meantime.
   */
  pageMs: number;
  /** How often the leases of stream slots are renewed. */
  renewMs: number;
  /** How long a slot stays taken after its process was killed. */
  leaseMs: number;
}

export const LIVE_TAIL_TIMING: LiveTailTiming = {
  pollMs: 10_000,
  heartbeatMs: 15_000,
  stallMs: 60_000,
  pageMs: 1_000,
  renewMs: 15_000,
  leaseMs: 60_000,
};

export interface LiveTailDeps {
  db: Queryable;
  /** Shared by the streams of a process. */
  turns: Semaphore;
  logger: Logger;
  metrics: Metrics;
  timing: LiveTailTiming;
  holder: LiveTailHolder;
  monitorId: string;
  /** The event that tells the client of a match. */
  eventOf: (match: MonitorMatch) => string;
  /** The seq of the last match that the client received. */
  afterSeq: number;
  /** Called once, after the last piece. */
  onClosed: () => Promise<void>;
}

/** Matches per page: the most a stream buffers for a client that reads slowly. */
const PAGE = 50;
const EMPTY_PAGE: LiveTailPage = { end: undefined, matches: [] };

/**
 * One stream. When it is its turn, it reads a page after the last match it sent, and sends it. After a page that was
 * not full it waits until it is woken or the next poll is due. A wake-up during a read causes another read, so no match
 * recorded before the wake-up is missed. A stream that has ended never starts again.
 */
export class LiveTail implements AnswerStream {
  readonly stallMs: number;
  private readonly options: LiveTailDeps;
  private readonly ending = new AbortController();
  private position: number;
  private woken = false;
  private sentAt = 0;
  /** A comment waits for the client to take it. */
  private isHeldUp = false;
  /** Ends the current wait. */
  private interrupt: (() => void) | undefined;

  constructor(options: LiveTailDeps) {
    this.options = options;
    this.position = options.afterSeq;
    this.stallMs = options.timing.stallMs;
  }

  get ended(): AbortSignal {
    return this.ending.signal;
  }

  /** Call when there may be a new match. */
  wake(): void {
    this.woken = true;
    this.interrupt?.();
  }

  end(): void {
    if (this.hasEnded()) return;
    this.ending.abort();
    this.interrupt?.();
  }

  close(): Promise<void> {
    return this.options.onClosed();
  }

  /** Never throws: an unexpected error is logged and ends the stream, and the client reconnects. */
  async *pieces(): AsyncGenerator<string> {
    try {
      yield this.sending(STREAM_BEGIN);
      while (!this.hasEnded()) {
        const page = yield* this.nextPage();
        yield* this.send(page);
        if (page.end !== undefined) return;
        if (page.matches.length < PAGE) yield* this.sleep();
      }
    } catch (error) {
      const { logger, monitorId } = this.options;
      logger.error({ err: error, monitorId }, 'a live tail failed');
    }
  }

  /** The next page; empty while Postgres is unreachable and after the stream has ended. */
  private async *nextPage(): AsyncGenerator<string, LiveTailPage> {
    while (!this.hasEnded()) {
      const turn: { page?: Promise<LiveTailPage>; isMissed?: true } = {};
      const taking = this.options.turns.run('', async () => {
        // A client that takes nothing would keep the turn from the others, and get an old page.
        if (this.isHeldUp || this.hasEnded()) turn.isMissed = true;
        else turn.page = this.read();
        this.interrupt?.();
        await turn.page;
      });
      // `page` has the same error.
      taking.catch(() => undefined);
      yield* this.waitUntil(() => turn.page !== undefined || turn.isMissed === true);
      if (turn.page !== undefined) return (await this.unlessEnded(turn.page)) ?? EMPTY_PAGE;
    }
    return EMPTY_PAGE;
  }

  private async read(): Promise<LiveTailPage> {
    const { db, holder, monitorId, logger } = this.options;
    this.woken = false;
    try {
      return await readLiveTailPage(db, { holder, monitorId, afterSeq: this.position, limit: PAGE });
    } catch (error) {
      if (!isPostgresAway(error)) throw error;
      logger.debug({ err: error, monitorId }, 'a live tail could not read; it tries again');
      return EMPTY_PAGE;
    }
  }

  private async *send({ end, matches }: LiveTailPage): AsyncGenerator<string> {
    const { monitorId, metrics, timing, eventOf } = this.options;
    const readAt = performance.now();
    for (const match of matches) {
      this.position = match.seq;
      metrics.liveTailEvents.inc();
      yield this.sending(eventOf(matchResource(monitorId, match)));
      if (this.hasEnded()) return;
      if (performance.now() - readAt > timing.pageMs) {
        this.woken = true;
        return;
      }
    }
    if (end !== undefined) yield this.sending(endEvent(end));
  }

  private sleep(): AsyncGenerator<string> {
    return this.waitUntil(() => this.woken, performance.now() + this.options.timing.pollMs);
  }

  /** Waits until something is so, but not beyond a time or the end of the stream. Comments continue. */
  private async *waitUntil(isSo: () => boolean, time = Infinity): AsyncGenerator<string> {
    while (!this.hasEnded() && !isSo() && performance.now() < time) {
      const heartbeatAt = this.sentAt + this.options.timing.heartbeatMs;
      if (performance.now() < heartbeatAt) {
        await this.pause(Math.min(time, heartbeatAt) - performance.now());
        continue;
      }
      this.isHeldUp = true;
      yield this.sending(HEARTBEAT);
      this.isHeldUp = false;
    }
  }

  private sending(piece: string): string {
    this.sentAt = performance.now();
    return piece;
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.interrupt = undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.interrupt = done;
    });
  }

  /** Resolves to undefined as soon as the stream ends, however long the work still takes. */
  private unlessEnded<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.interrupt = () => {
        if (this.hasEnded()) resolve(undefined);
      };
      work.then(resolve, reject);
    });
  }

  private hasEnded(): boolean {
    return this.ending.signal.aborted;
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

/** One entry of a list on a page: its markup, and the id of its element. */
export function itemEvent(matchId: string, entry: { id: string; markup: string }): string {
  return `id: ${matchId}\nevent: item\ndata: ${JSON.stringify(entry)}\n\n`;
}

/** The last event of a stream that the client must not reopen. */
export function endEvent(reason: LiveTailEnd): string {
  return `event: end\ndata: ${JSON.stringify({ reason })}\n\n`;
}
