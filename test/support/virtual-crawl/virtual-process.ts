import { backOffMs } from '../../../services/crawler/failure-log.ts';
import { GroupBudget, Pace } from '../../../services/crawler/pace.ts';
import { CallBudget } from '../../../shared/forum-client/call-budget.ts';
import type { Claim, ReceivedReport, Taken } from '../../../shared/forum-client/call-budget.ts';
import type { BudgetShares, Lane } from '../../../shared/forum-client/lanes.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { ForumAnswer, ForumRequest } from '../forum-model/forum-reader.ts';
import type { Random } from '../forum-model/random.ts';
import type { EventQueue, Network, Outcome } from './network.ts';
import type { Sightings } from './sightings.ts';

export interface ProcessDeps {
  queue: EventQueue;
  network: Network;
  sightings: Sightings;
  random: Random;
  clients: number;
  shares: BudgetShares;
  /** Counts the calls by purpose. */
  calls: Map<string, number>;
}

/** One crawler process: its budget and the sources whose leases it holds. */
export class VirtualProcess {
  readonly budget: CallBudget;
  readonly pace: Pace;
  readonly groupBudget: GroupBudget;
  readonly queue: EventQueue;
  readonly random: Random;
  isAlive = true;
  private readonly deps: ProcessDeps;
  private readonly runners = new Map<string, VirtualRunner>();

  constructor(deps: ProcessDeps) {
    this.deps = deps;
    this.queue = deps.queue;
    this.random = deps.random;
    const names = Array.from({ length: deps.clients }, (_, client) => `client${client}`);
    this.budget = new CallBudget(names, deps.shares);
    this.groupBudget = new GroupBudget(() => this.budget.perSecond('groups', this.queue.now));
    this.pace = new Pace(() => this.budget.perSecond('live', this.queue.now));
  }

  /** Starts a source from a saved position. */
  hold(source: VirtualSource, position: unknown): void {
    const runner = new VirtualRunner(source, this);
    this.runners.set(source.name, runner);
    source.begin(position, this.queue.now);
    runner.run(this.queue.now);
  }

  /** The sources that this process runs. */
  held(): readonly VirtualSource[] {
    return [...this.runners.values()].map(({ source }) => source);
  }

  /** Ends at once, as with kill -9: no answer is processed any more. */
  kill(): void {
    this.isAlive = false;
    for (const runner of this.runners.values()) runner.end();
  }

  take(claim: Claim, now: number): Taken {
    return this.budget.take({ lane: claim.lane }, now);
  }

  send(client: number, call: VirtualCall, done: (outcome: Outcome, now: number) => void): void {
    const { calls, network } = this.deps;
    calls.set(call.purpose, (calls.get(call.purpose) ?? 0) + 1);
    network.send(client, call.request, (outcome, now) => {
      if (!this.isAlive) return;
      const { error, headers } = outcome;
      if (error?.status === 429) this.budget.clients[client]?.block(now + (error.retryAfterMs ?? 0));
      this.budget.settle(client, { lane: call.lane }, headers, now);
      done(outcome, now);
    });
  }

  /** Notes what was published; returns how many comments were new. */
  published(call: VirtualCall, answer: ForumAnswer, seenAt: number): number {
    const { posts, comments } = call.publishes?.(answer) ?? answer;
    this.deps.sightings.addPosts(posts, seenAt);
    return this.deps.sightings.addComments(comments, seenAt, call.purpose);
  }

  exchange(others: readonly VirtualProcess[], now: number): void {
    const reports = others.map(({ budget }): ReceivedReport => ({ ...budget.report(now), ageMs: 0 }));
    this.budget.receive(reports, now);
  }
}

const MAX_WAIT_MS = 60_000;
/** Time from an answer to the acknowledgement of the broker. */
const PUBLISH_MS = 20;

/** What a runner uses of the process it runs in. */
export interface RunnerHost {
  readonly queue: EventQueue;
  readonly random: Random;
  take: (claim: Claim, now: number) => Taken;
  send: (client: number, call: VirtualCall, done: (outcome: Outcome, now: number) => void) => void;
  published: (call: VirtualCall, answer: ForumAnswer, seenAt: number) => number;
}

/** Makes the calls of one source in virtual time, with the rules of the crawler's CallLoop. */
export class VirtualRunner {
  readonly source: VirtualSource;
  private readonly process: RunnerHost;
  private inFlight = 0;
  private resumeAt = Number.NEGATIVE_INFINITY;
  private failingSince: number | undefined;
  private failedAt = Number.NEGATIVE_INFINITY;
  private wakes = 0;
  private hasEnded = false;

  constructor(source: VirtualSource, process: RunnerHost) {
    this.source = source;
    this.process = process;
  }

  end(): void {
    this.hasEnded = true;
  }

  /** Starts calls as long as the source has some. */
  run(now: number): void {
    while (!this.hasEnded && this.inFlight < this.source.maxInFlight) {
      if (now < this.resumeAt) {
        this.wakeAt(this.resumeAt);
        return;
      }
      const step = this.source.next(now);
      if ('waitMs' in step) {
        this.wakeAt(now + Math.max(1, Math.min(MAX_WAIT_MS, step.waitMs)));
        return;
      }
      this.start(step, now);
    }
  }

  private start(call: VirtualCall, startedAt: number): void {
    const { process } = this;
    const taken = process.take(call, startedAt);
    if (taken.client === undefined) {
      const error = new UpstreamError('busy', 'own budget', { reason: 'own_budget', retryAfterMs: taken.waitMs });
      call.failed(error, startedAt);
      this.resumeAt = Math.max(this.resumeAt, startedAt + Math.max(1, taken.waitMs));
      return;
    }
    this.inFlight += 1;
    process.send(taken.client, call, ({ answer, error }, now) => {
      if (answer === undefined) {
        this.inFlight -= 1;
        this.fail(call, error, now);
        return;
      }
      process.queue.at(now + PUBLISH_MS, (published) => {
        this.inFlight -= 1;
        if (this.hasEnded) return;
        call.succeeded(answer, now, process.published(call, answer, now));
        if (startedAt >= this.failedAt) this.recover();
        this.run(published);
      });
    });
  }

  private fail(call: VirtualCall, error: unknown, now: number): void {
    if (this.hasEnded) return;
    call.failed(error, now);
    this.failingSince ??= now;
    this.failedAt = now;
    const waitMs = backOffMs(error, now - this.failingSince, this.process.random.next());
    this.resumeAt = Math.max(this.resumeAt, now + waitMs);
    this.run(now);
  }

  private recover(): void {
    this.resumeAt = Number.NEGATIVE_INFINITY;
    this.failingSince = undefined;
  }

  private wakeAt(at: number): void {
    this.wakes += 1;
    const wake = this.wakes;
    this.process.queue.at(at, (now) => {
      if (wake === this.wakes) this.run(now);
    });
  }
}

/** A call that a source wants to make now, as `Call` of the crawler, but with no fetch. */
export interface VirtualCall {
  request: ForumRequest;
  lane: Lane;
  /** What the calls of one kind are counted under. */
  purpose: string;
  /** What of the answer is published; default: all. */
  publishes?: (answer: ForumAnswer) => ForumAnswer;
  /** Runs when the broker has everything; `seenAt` is when the answer arrived, `added` how many comments were new. */
  succeeded: (answer: ForumAnswer, seenAt: number, added: number) => void;
  failed: (error: unknown, now: number) => void;
}

/** The decisions of one of the crawler's sources, joined to the model. The counterpart of `CrawlSource`. */
export interface VirtualSource {
  readonly name: string;
  readonly maxInFlight: number;
  begin: (position: unknown, now: number) => void;
  next: (now: number) => VirtualCall | { waitMs: number };
  position: () => unknown;
}
