import { GroupBudget, Pace } from '../../../services/crawler/pace.ts';
import { CallBudget } from '../../../shared/forum-client/call-budget.ts';
import type { Claim, ReceivedReport, Taken } from '../../../shared/forum-client/call-budget.ts';
import type { BudgetShares } from '../../../shared/forum-client/lanes.ts';
import type { ForumAnswer } from '../forum-model/forum-reader.ts';
import type { Random } from '../forum-model/random.ts';
import type { EventQueue } from './event-queue.ts';
import type { Network, Outcome } from './network.ts';
import type { Sightings } from './sightings.ts';
import { VirtualRunner } from './virtual-runner.ts';
import type { VirtualCall, VirtualSource } from './virtual-source.ts';

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
