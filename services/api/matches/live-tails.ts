import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import { startTopicKeyListener } from '../../../shared/kafka/topic-key-listener.ts';
import type { LiveTailHolder } from '../../../shared/matches/live-tails.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { Semaphore } from '../../../shared/runtime/semaphore.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { ApiError } from '../http/api-error.ts';
import { LIVE_TAIL_TIMING, LiveTail } from './live-tail.ts';
import type { LiveTailTiming } from './live-tail.ts';
import { STREAMS_PER_ACCOUNT, StreamSlots } from './stream-slots.ts';

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
  private readonly turns = new Semaphore(READS_AT_ONCE);
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
      throw new ApiError('rate_limited', 'As many streams are open here as can be.', { retryAfter: RETRY_AFTER });
    }
    this.count++;
    try {
      const slot = await this.slots.take(request.accountId);
      if (slot === undefined) {
        const message = `The account has ${STREAMS_PER_ACCOUNT} open streams, as many as it may have. Close one first.`;
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
    const { turns, timing } = this;
    const { pool: db, logger, metrics } = this.options;
    const onClosed = async () => {
      this.tails.delete(tail);
      metrics.liveTails.dec();
      this.count--;
      await release();
    };
    const tail = new LiveTail({ db, turns, logger, metrics, timing, ...request, onClosed });
    this.tails.add(tail);
    metrics.liveTails.inc();
    if (this.stopping) tail.end();
    return tail;
  }

  private wake(monitorId: string | undefined): void {
    for (const tail of this.tails) if (monitorId === undefined || tail.monitorId === monitorId) tail.wake();
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
