import { randomUUID } from 'node:crypto';
import type { LiveTailEnd } from '../../../schemas/api/matches.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import { startTopicKeyListener } from '../../../shared/kafka/topic-key-listener.ts';
import {
  readLiveTailPage,
  releaseLiveTailSlots,
  renewLiveTailSlots,
  takeLiveTailSlot,
} from '../../../shared/matches/live-tails.ts';
import type { LiveTailHolder, LiveTailPage, LiveTailSlot } from '../../../shared/matches/live-tails.ts';
import { matchResource } from '../../../shared/matches/rules/match-resource.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import { rejectOnAbort } from '../../../shared/runtime/errors.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { Semaphore } from '../../../shared/runtime/semaphore.ts';
import { ApiError } from '../http/api-error.ts';
import type { ResponseStream } from '../http/response-stream.ts';

/** Intervals and time limits of live tails, in milliseconds. */
const LIVE_TAIL_TIMING = {
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

export interface WakeUps {
  /** The listener gets the id of a monitor, or undefined when any monitor may have new matches. */
  listen(listener: (monitorId: string | undefined) => void): void;
}

export interface LiveTailsDeps {
  pool: Queryable;
  logger: Logger;
  metrics: Metrics;
  /** Absent: streams only poll. */
  wakeUps?: WakeUps;
  timing?: Partial<LiveTailTiming>;
  /** Streams of this process; default 1,000. */
  maxStreams?: number;
}

export interface TailRequest {
  accountId: string;
  holder: LiveTailHolder;
  monitorId: string;
  /** The event that tells the client of a match. */
  eventOf: (match: MonitorMatch) => string;
  /** The seq of the last match that the client received. */
  afterSeq: number;
}

const DEFAULT_MAX_STREAMS = 1_000;
/** Streams that read at the same time: they share the connections of requests, which must not wait for all of them. */
const READS_AT_ONCE = 4;
/** The Retry-After of a refused stream, in seconds. */
const RETRY_AFTER = 15;

export class LiveTails {
  private readonly options: LiveTailsDeps;
  private readonly timing: LiveTailTiming;
  private readonly slots: StreamSlots;
  private readonly reads = new Semaphore(READS_AT_ONCE);
  private readonly tails = new Set<LiveTail>();
  /** Streams that are open or being opened. */
  private count = 0;
  private stopping = false;

  constructor(options: LiveTailsDeps) {
    this.options = options;
    this.timing = { ...LIVE_TAIL_TIMING, ...options.timing };
    this.slots = new StreamSlots({ db: options.pool, logger: options.logger, timing: this.timing });
    options.wakeUps?.listen((monitorId) => this.wake(monitorId));
  }

  /** @throws ApiError rate_limited when the account or this process has reached its limit of streams */
  async open(request: TailRequest): Promise<ResponseStream> {
    if (this.count >= (this.options.maxStreams ?? DEFAULT_MAX_STREAMS)) {
      throw new ApiError('rate_limited', 'Too many streams are open. Try again shortly.', { retryAfter: RETRY_AFTER });
    }
    this.count++;
    try {
      const slot = await this.slots.take(request.accountId);
      if (slot === undefined) {
        const message = `The account has ${STREAMS_PER_ACCOUNT} open streams, the maximum. Close one first.`;
        throw new ApiError('rate_limited', message, { retryAfter: RETRY_AFTER });
      }
      return this.add(request, () => this.slots.release(slot));
    } catch (error) {
      this.count--;
      throw error;
    }
  }

  /** Ends all streams and releases their slots. A stream opened later ends at once. */
  async stop(): Promise<void> {
    this.stopping = true;
    for (const tail of this.tails) tail.end();
    await this.slots.releaseAll();
  }

  private add({ accountId: _accountId, ...request }: TailRequest, release: () => Promise<void>): LiveTail {
    const { reads, timing } = this;
    const { pool: db, logger, metrics } = this.options;
    const onClosed = async () => {
      this.tails.delete(tail);
      metrics.liveTails.dec();
      this.count--;
      await release();
    };
    const tail = new LiveTail({ db, reads, logger, metrics, timing, ...request, onClosed });
    this.tails.add(tail);
    metrics.liveTails.inc();
    if (this.stopping) tail.end();
    return tail;
  }

  private wake(monitorId: string | undefined): void {
    for (const tail of this.tails) if (monitorId === undefined || tail.monitorId === monitorId) tail.wake();
  }
}

interface LiveTailDeps extends Omit<TailRequest, 'accountId'> {
  db: Queryable;
  /** Limits the reads of all streams of a process. */
  reads: Semaphore;
  logger: Logger;
  metrics: Metrics;
  timing: LiveTailTiming;
  /** Called once, after the last piece. */
  onClosed: () => Promise<void>;
}

/** Matches per page: the most a stream buffers for a client that reads slowly. */
const PAGE = 50;

/**
 * One stream. It reads a page after the last match it sent, and sends it. After a page that was not full it waits until
 * it is woken or the next poll is due. A wake-up during a read causes another read, so no match recorded before the
 * wake-up is missed. A stream that has ended never starts again.
 */
class LiveTail implements ResponseStream {
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
    const { reads, timing, logger, monitorId } = this.options;
    try {
      yield this.sending(STREAM_BEGIN);
      for (;;) {
        const page = yield* this.waitFor(reads.run('', () => this.read(), this.ended));
        if (page === undefined) continue;
        yield* this.send(page);
        if (page.end !== undefined) return;
        if (page.matches.length < PAGE) yield* this.waitFor(delay(timing.pollMs, this.waking.signal));
      }
    } catch (error) {
      if (!this.ended.aborted) logger.error({ err: error, monitorId }, 'a live tail failed');
    }
  }

  /** Undefined while the client takes nothing: it would hold a slot for nothing, and get an old page. */
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
      logger.debug({ err: error, monitorId }, 'a live tail could not read; it will try again');
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

interface StreamSlotsDeps {
  db: Queryable;
  logger: Logger;
  timing: Pick<LiveTailTiming, 'renewMs' | 'leaseMs'>;
}

/** A release never waits longer than this for a database that does not answer: the leases expire by themselves. */
const RELEASE_TIMEOUT_MS = 2_000;

/** Open streams per account, over all processes. */
const STREAMS_PER_ACCOUNT = 10;

/** One timer renews all leases of this process; the next renewal makes up for a failed one. */
class StreamSlots {
  private readonly options: StreamSlotsDeps;
  private readonly leased = new Set<LiveTailSlot>();
  private renewal: NodeJS.Timeout | undefined;
  private renewing: Promise<void> = Promise.resolve();

  constructor(options: StreamSlotsDeps) {
    this.options = options;
  }

  /** Leases a slot for one more stream of the account; undefined when all are taken. */
  async take(accountId: string): Promise<LiveTailSlot | undefined> {
    const { db, timing } = this.options;
    const stream = { accountId, streamId: randomUUID() };
    const lease = { ...stream, maxSlots: STREAMS_PER_ACCOUNT, leaseSeconds: timing.leaseMs / 1_000 };
    let slot = await takeLiveTailSlot(db, lease);
    // Another stream took the slot. That happens at most once per slot, so the loop ends.
    while (slot === 'lost') slot = await takeLiveTailSlot(db, lease);
    if (slot === 'full') return undefined;
    const taken = { ...stream, slot };
    this.leased.add(taken);
    this.renewal ??= setInterval(() => {
      const renewed = this.renew();
      this.renewing = this.renewing.then(() => renewed);
    }, timing.renewMs);
    return taken;
  }

  /** Never throws: a slot that could not be released is free when its lease expires. */
  async release(slot: LiveTailSlot): Promise<void> {
    if (!this.leased.delete(slot)) return;
    await this.releaseLeases([slot]);
  }

  async releaseAll(): Promise<void> {
    const slots = [...this.leased];
    this.leased.clear();
    await this.releaseLeases(slots);
  }

  private async releaseLeases(slots: readonly LiveTailSlot[]): Promise<void> {
    if (this.leased.size === 0) {
      clearInterval(this.renewal);
      this.renewal = undefined;
    }
    if (slots.length === 0) return;
    try {
      // A renewal that began before would take the released slots again.
      const released = this.renewing.then(() => releaseLiveTailSlots(this.options.db, slots));
      await withDeadline(released, RELEASE_TIMEOUT_MS, 'Postgres did not answer in time');
    } catch (error) {
      this.options.logger.warn({ err: error }, 'stream slots stay taken until their leases expire');
    }
  }

  private async renew(): Promise<void> {
    const { db, timing, logger } = this.options;
    try {
      await renewLiveTailSlots(db, [...this.leased], timing.leaseMs / 1_000);
    } catch (error) {
      logger.warn({ err: error }, 'stream slots could not be renewed; the streams continue');
    }
  }
}

/** Each process has its own consumer group and deletes it on stop. */
const GROUP = 'live-tail-';

/** Wakes live tails when matches of their monitors are published, so that they need not wait for the next poll. */
export function startMatchWakeUps(options: {
  kafka: KafkaConnection;
  prefix: string;
  fatal: (error: Error) => void;
  logger: Logger;
}): WakeUps & Running {
  let listener: Parameters<WakeUps['listen']>[0] | undefined;
  const watch = startTopicKeyListener({
    ...options,
    group: GROUP + randomText(12),
    topics: [MONITOR_MATCHES.name],
    onKey: (monitorId) => listener?.(monitorId),
    onGap: () => listener?.(undefined),
  });
  return {
    listen(given) {
      listener = given;
    },
    stop: () => watch.stop(),
  };
}
