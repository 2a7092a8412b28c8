import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { ForumAnswer, ForumReader, ForumRequest } from '../forum-model/forum-reader.ts';
import type { Forum } from '../forum-model/forum.ts';
import { Random } from '../forum-model/random.ts';

interface Event {
  at: number;
  order: number;
  run: (now: number) => void;
}

/**
 * Virtual time: runs events in the order of their times, and those of the same millisecond in the order in which they
 * were scheduled. Times are milliseconds since 1970.
 */
export class EventQueue {
  now: number;
  private readonly heap: Event[] = [];
  private scheduled = 0;

  constructor(startsAt: number) {
    this.now = startsAt;
  }

  /** Schedules `run` for a time; a time in the past means now. */
  at(time: number, run: (now: number) => void): void {
    const event = { at: Math.max(this.now, Math.ceil(time)), order: this.scheduled++, run };
    const { heap } = this;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  /** Runs all events up to a time. */
  runUntil(time: number): void {
    for (let event = this.heap[0]; event && event.at <= time; event = this.heap[0]) {
      this.removeFirst();
      this.now = event.at;
      event.run(event.at);
    }
    this.now = time;
  }

  private removeFirst(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** The crawler waits this long for an answer. */
const DEADLINE_MS = 10_000;
const RETRY_AFTER_MS = 5_000;
/** The longest age of a page from a cache. */
const STALE_MS = 20_000;

/**
 * What goes wrong with a share of the calls (default: all) for some time, in milliseconds since the start: nothing
 * answers; 429; a 403 with a page of HTML; no answer before the deadline; a page from a cache.
 */
export interface Fault {
  kind: 'outage' | 'busy' | 'blocked' | 'stuck' | 'stale';
  fromMs: number;
  toMs: number;
  share?: number;
}

export interface NetworkOptions {
  seed: number;
  clients: number;
  /** Round trips take a random time between these, so that answers overtake each other. */
  roundTripMs: readonly [number, number];
  faults: readonly Fault[];
}

/** How a call ended. An answer without `answer` is an error. */
export interface Outcome {
  headers: RateHeaders;
  answer?: ForumAnswer;
  error?: UpstreamError;
}

/** The network between the crawlers and the forum: round trips, quotas and faults. */
export class Network {
  readonly reader: ForumReader;
  private readonly forum: Forum;
  private readonly queue: EventQueue;
  private readonly options: NetworkOptions;
  private readonly random: Random;
  private readonly windows: RateWindows;

  constructor(forum: Forum, reader: ForumReader, queue: EventQueue, options: NetworkOptions) {
    this.forum = forum;
    this.reader = reader;
    this.queue = queue;
    this.options = options;
    this.random = new Random(options.seed);
    this.windows = new RateWindows(options.clients);
  }

  /** Sends a request as a client. `done` runs when the outcome is known. */
  send(client: number, request: ForumRequest, done: (outcome: Outcome, now: number) => void): void {
    const sentAt = this.queue.now;
    const [least, most] = this.options.roundTripMs;
    const roundTripMs = least + this.random.next() * (most - least);
    const fault = this.faultAt(sentAt);
    if (fault?.kind === 'outage') {
      const error = new UpstreamError('broken', 'the connection to the forum failed', { retryable: true });
      this.answerAt(sentAt + roundTripMs, { headers: {}, error }, done);
    } else if (fault?.kind === 'stuck') {
      const error = new UpstreamError('timeout', 'the forum did not respond in time');
      this.answerAt(sentAt + DEADLINE_MS, { headers: {}, error }, done);
    } else {
      this.queue.at(sentAt + roundTripMs / 2, (now) => {
        this.answerAt(sentAt + roundTripMs, this.serve(client, request, fault, now), done);
      });
    }
  }

  private answerAt(at: number, outcome: Outcome, done: (outcome: Outcome, now: number) => void): void {
    this.queue.at(at, (now) => {
      done(outcome, now);
    });
  }

  private serve(client: number, request: ForumRequest, fault: Fault | undefined, now: number): Outcome {
    if (fault?.kind === 'blocked') {
      return { headers: {}, error: new UpstreamError('refused', 'the forum answered with a page', { status: 403 }) };
    }
    const { headers, isOver, resetMs } = this.windows.admit(client, now);
    if (isOver || fault?.kind === 'busy') {
      const retryAfterMs = isOver ? resetMs : RETRY_AFTER_MS;
      return { headers, error: new UpstreamError('busy', 'too many requests', { status: 429, retryAfterMs }) };
    }
    const atMs = now - this.forum.options.startsAt;
    this.forum.advance(atMs);
    const age = fault?.kind === 'stale' ? this.random.next() * STALE_MS : 0;
    return { headers, answer: this.reader.answer(request, atMs, atMs - age) };
  }

  private faultAt(now: number): Fault | undefined {
    const atMs = now - this.forum.options.startsAt;
    return this.options.faults.find(
      ({ fromMs, toMs, share }) => atMs >= fromMs && atMs < toMs && (share === undefined || this.random.next() < share),
    );
  }
}

const CALLS_PER_WINDOW = 1_000;
const WINDOW_MS = 600_000;

/** As the forum sends them: `remaining` is a decimal fraction, `reset` whole seconds. */
export interface RateHeaders {
  remaining?: string;
  used?: string;
  reset?: string;
}

/** Each client has a thousand calls in ten minutes, counted from its first call. Times are milliseconds. */
export class RateWindows {
  private readonly usage: { startedAt: number; used: number }[];

  constructor(clients: number) {
    this.usage = Array.from({ length: clients }, () => ({ startedAt: -Infinity, used: 0 }));
  }

  /** Counts one call. */
  admit(client: number, now: number): { headers: RateHeaders; isOver: boolean; resetMs: number } {
    const usage = this.usage[client]!;
    if (now >= usage.startedAt + WINDOW_MS) {
      usage.startedAt = now;
      usage.used = 0;
    }
    const isOver = usage.used >= CALLS_PER_WINDOW;
    if (!isOver) usage.used += 1;
    const resetMs = usage.startedAt + WINDOW_MS - now;
    const headers = {
      remaining: (CALLS_PER_WINDOW - usage.used).toFixed(1),
      used: String(usage.used),
      reset: String(Math.ceil(resetMs / 1000)),
    };
    return { headers, isOver, resetMs };
  }
}
