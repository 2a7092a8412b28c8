import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { Forum } from '../forum-model/forum.ts';
import type { ForumAnswer, ForumReader, ForumRequest } from '../forum-model/forum-reader.ts';
import { Random } from '../forum-model/random.ts';
import type { RateHeaders } from '../forum-model/rate-windows.ts';
import { RateWindows } from '../forum-model/rate-windows.ts';
import type { EventQueue } from './event-queue.ts';

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

/** The way between the crawlers and the forum: round trips, quotas and faults. */
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
      const error = new UpstreamError('timeout', 'the forum did not answer in time');
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
