import { LRUCache } from 'lru-cache';
import type { DeliveryTarget } from '../../shared/deliveries/pending-deliveries.ts';
import { AttemptPermits, EndpointSlots, endpointOf } from './attempt-permits.ts';
import type { Responsiveness, Endpoint } from './attempt-permits.ts';
import { LocalOutage } from './endpoint-holds.ts';
import type { EndpointHolds, ReceiverAnswer, LocalOutageDeps } from './endpoint-holds.ts';
import type { OutcomeGate } from './start-dispatching.ts';

/** Permission for `count` attempts at an endpoint: that many slots of the endpoint and permits of the process. */
interface Grant {
  endpoint: Endpoint;
  responsiveness: Responsiveness;
  count: number;
}

/** A cached target only predicts which endpoint needs a slot; the claim returns the URL that is used. */
const TARGET_TTL_MS = 10_000;

/**
 * Decides when pending matches are claimed and attempted.
 *
 * Before: the consumer of monitor.matches adds a wake-up for each new match, and `startDuePoller` reports monitors with
 * due matches; both collect in the monitor's backlog. When the monitor's endpoint has free slots and the process has
 * permits for the endpoint's responsiveness, that many matches are claimed and attempted. Otherwise the monitor waits
 * for a slot or for a permit. No endpoint is awaited by another, so a dead one delays no other.
 *
 * After: `attemptDelivery` sends the request and stores the outcome. All state here is in memory: after a crash the
 * leases end and the poller of any process finds the pending rows.
 */
export class DeliveryDispatcher<Delivery extends QueuedDelivery> {
  private readonly options: DispatcherDeps<Delivery>;
  private readonly limits: DispatcherLimits;
  private readonly slots: EndpointSlots;
  private readonly permits: AttemptPermits;
  /** How endpoints responded last, by webhook URL. A new process reads it from delivery_attempts. About 10 MB. */
  private readonly responsiveness = new LRUCache<string, Responsiveness>({ max: 50_000 });
  private readonly outage: LocalOutage;
  private readonly backlogs = new Map<string, MonitorBacklog>();
  /** Shared by all backlogs. */
  private readonly wakeUps = { count: 0 };
  private readonly targets = new LRUCache<string, { endpoint: Endpoint | null; expiresAt: number }>({ max: 20_000 });
  private readonly inFlight = new Set<Promise<void>>();
  private isStopping = false;

  constructor(options: DispatcherDeps<Delivery>) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.slots = new EndpointSlots(this.limits.perUrl, this.limits.perOrigin, (url) => options.holds.room(url));
    this.permits = new AttemptPermits(this.limits.total);
    this.outage = new LocalOutage({ monotonic: options.monotonic, onChange: options.onOutage });
  }

  /** A match was just recorded. Drops the wake-up when there are too many; the poller finds the row. */
  addWakeUp(monitorId: string, seq: number): void {
    if (this.wakeUps.count >= this.limits.wakeUps) return;
    const backlog = this.backlog(monitorId);
    backlog.addWakeUp(seq);
    this.wake(backlog);
  }

  /** Notes that the poller found due matches of a monitor, and their target. */
  markDue(target: DeliveryTarget): void {
    this.cacheTarget(target);
    const backlog = this.backlog(target.monitorId);
    backlog.isDue = true;
    this.wake(backlog);
  }

  /** Stops claiming and releases claimed matches that were not attempted; resolves when all attempts have ended. */
  async stop(): Promise<void> {
    this.isStopping = true;
    while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight);
  }

  private backlog(monitorId: string): MonitorBacklog {
    let backlog = this.backlogs.get(monitorId);
    if (!backlog) {
      backlog = new MonitorBacklog(monitorId, this.wakeUps);
      this.backlogs.set(monitorId, backlog);
    }
    return backlog;
  }

  private wake(backlog: MonitorBacklog): void {
    if (backlog.isRunning || this.isStopping) return;
    backlog.isRunning = true;
    this.track(this.work(backlog));
  }

  private async work(backlog: MonitorBacklog): Promise<void> {
    try {
      // No await between the last check of the backlog and isRunning = false, so that later work wakes it again.
      while (!backlog.isIdle && !this.isStopping) {
        const endpoint = await this.endpoint(backlog.monitorId);
        if (!endpoint) {
          await this.skip(backlog);
          continue;
        }
        const grant = this.grant(backlog, endpoint);
        // The failed grant returned permits, and one of them was handed to this backlog: try again.
        if (!grant && backlog.permit) continue;
        if (!grant) break;
        await this.startAttempts(backlog, grant);
      }
    } catch (error) {
      this.clearBacklog(backlog);
      this.options.onError(error);
    }
    backlog.isRunning = false;
    this.returnPermit(backlog);
    if (backlog.isIdle) this.backlogs.delete(backlog.monitorId);
  }

  /** Takes slots and permits; returns undefined when the monitor must wait or is left to the poller. */
  private grant(backlog: MonitorBacklog, endpoint: Endpoint): Grant | undefined {
    const { holds, outcomes } = this.options;
    if (holds.isHeld(endpoint.url) || !outcomes.isOpen || !this.outage.admits(endpoint.url)) {
      this.clearBacklog(backlog);
      return undefined;
    }
    const responsiveness = backlog.permit ?? this.responsiveness.get(endpoint.url) ?? 'unknown';
    const handed = backlog.permit ? 1 : 0;
    backlog.permit = undefined;
    const waiting = backlog.isDue ? this.limits.perUrl : backlog.wakeUpCount;
    const takenSlots = this.slots.take(endpoint, waiting);
    const takenPermits = handed + this.permits.take(responsiveness, Math.max(0, takenSlots - handed));
    const usable = Math.min(takenSlots, takenPermits);
    if (usable > 0) this.release({ endpoint, responsiveness }, { slots: takenSlots - usable, permits: 0 });
    else {
      if (takenSlots === 0) this.slots.waitFor(endpoint, backlog.monitorId);
      else this.permits.waitFor(responsiveness, backlog.monitorId);
      this.release({ endpoint, responsiveness }, { slots: takenSlots, permits: takenPermits });
      return undefined;
    }
    return { endpoint, responsiveness, count: usable };
  }

  private async startAttempts(backlog: MonitorBacklog, grant: Grant): Promise<void> {
    const { endpoint } = grant;
    let unused = grant.count;
    try {
      const { deliveries, claimedAt } = await this.claim(backlog, grant.count);
      const moved = deliveries.filter(({ webhookUrl }) => webhookUrl !== endpoint.url);
      if (moved.length > 0 || this.isStopping || this.options.holds.isHeld(endpoint.url)) {
        this.targets.delete(backlog.monitorId);
        for (const { attempt, seq } of deliveries) if (attempt === 0) backlog.addWakeUp(seq);
        backlog.isDue ||= deliveries.some(({ attempt }) => attempt > 0);
        await this.options.queue.release(deliveries);
        return;
      }
      for (const delivery of deliveries) {
        unused--;
        this.track(this.run(delivery, claimedAt, grant));
      }
    } finally {
      this.release(grant, { slots: unused, permits: unused });
    }
  }

  private async claim(backlog: MonitorBacklog, taken: number): Promise<Claim<Delivery>> {
    const { queue } = this.options;
    if (!backlog.isDue) return queue.claimNew(backlog.monitorId, backlog.takeWakeUps(taken));
    backlog.isDue = false;
    const claim = await queue.claimDue(backlog.monitorId, taken);
    backlog.dropWakeUps(claim.deliveries.map(({ seq }) => seq));
    // As many as requested: there may be more. None: the monitor or its webhook may be deleted, so read the target
    // again.
    if (claim.deliveries.length === taken) backlog.isDue = true;
    if (claim.deliveries.length === 0) this.targets.delete(backlog.monitorId);
    return claim;
  }

  private async run(delivery: Delivery, claimedAt: number, grant: Grant): Promise<void> {
    const { endpoint } = grant;
    let { responsiveness } = grant;
    const silentTimer = setTimeout(() => {
      this.permits.move(responsiveness, 'silent');
      responsiveness = 'silent';
      this.handOutPermits();
    }, this.limits.silentAfterMs);
    try {
      const end = await this.options.attempt(delivery, claimedAt);
      clearTimeout(silentTimer);
      if (end.kind === 'local fault') this.outage.attemptFailed(endpoint.url, end.code);
      else if (end.kind !== 'not started') {
        this.outage.attemptSent(endpoint.url);
        if (end.kind === 'answered') this.options.holds.answered(endpoint.url, end);
        // Only the receiver's time counts: a Postgres that stores outcomes slowly must not make a receiver silent.
        const isSoon = end.kind === 'answered' && end.afterMs <= this.limits.silentAfterMs;
        this.responsiveness.set(endpoint.url, isSoon ? 'answering' : 'silent');
      }
    } catch (error) {
      this.options.onError(error);
    } finally {
      clearTimeout(silentTimer);
      this.release({ endpoint, responsiveness }, { slots: 1, permits: 1 });
    }
  }

  private async skip(backlog: MonitorBacklog): Promise<void> {
    this.clearBacklog(backlog);
    if (await this.options.queue.skipUndeliverable(backlog.monitorId)) backlog.isDue = true;
  }

  private release(
    { endpoint, responsiveness }: Pick<Grant, 'endpoint' | 'responsiveness'>,
    count: { slots: number; permits: number },
  ): void {
    this.permits.release(responsiveness, count.permits);
    if (count.slots > 0) {
      const wantsOne = (monitorId: string) => {
        const backlog = this.backlogs.get(monitorId);
        return backlog !== undefined && !backlog.isIdle && !backlog.isRunning;
      };
      const woken = this.slots.release(endpoint, count.slots, wantsOne);
      for (const monitorId of woken) this.wake(this.backlogs.get(monitorId)!);
    }
    this.handOutPermits();
  }

  private handOutPermits(): void {
    if (this.isStopping) return;
    const wantsOne = (monitorId: string) => {
      const backlog = this.backlogs.get(monitorId);
      return backlog !== undefined && !backlog.isIdle && backlog.permit === undefined;
    };
    for (const { monitorId, responsiveness } of this.permits.handOut(wantsOne)) {
      const backlog = this.backlogs.get(monitorId)!;
      backlog.permit = responsiveness;
      this.wake(backlog);
    }
  }

  /** Returns a permit that was handed to a backlog without work. */
  private returnPermit(backlog: MonitorBacklog): void {
    if (!backlog.permit) return;
    this.permits.release(backlog.permit, 1);
    backlog.permit = undefined;
    this.handOutPermits();
  }

  /** Drops everything known of a monitor's pending matches; the poller finds the rows again. */
  private clearBacklog(backlog: MonitorBacklog): void {
    backlog.isDue = false;
    backlog.takeWakeUps(backlog.wakeUpCount);
  }

  private async endpoint(monitorId: string): Promise<Endpoint | null> {
    const known = this.targets.get(monitorId);
    if (known && known.expiresAt > this.options.monotonic()) return known.endpoint;
    return this.cacheTarget(await this.options.queue.target(monitorId));
  }

  private cacheTarget({ monitorId, webhookUrl, accountId, isAnswering }: DeliveryTarget): Endpoint | null {
    if (webhookUrl !== null && isAnswering !== null && !this.responsiveness.has(webhookUrl)) {
      this.responsiveness.set(webhookUrl, isAnswering ? 'answering' : 'silent');
    }
    const endpoint = webhookUrl === null ? null : endpointOf(webhookUrl, accountId);
    this.targets.set(monitorId, { endpoint, expiresAt: this.options.monotonic() + TARGET_TTL_MS });
    return endpoint;
  }

  private track(work: Promise<void>): void {
    this.inFlight.add(work);
    void work.finally(() => this.inFlight.delete(work));
  }
}

/** What the dispatcher knows of a claimed match, or of a claimed event of a monitor. */
export interface QueuedDelivery {
  seq: number;
  attempt: number;
  webhookUrl: string;
}

/** The dispatcher's view of the pending matches in the database. Each claim is committed when its promise resolves. */
export interface DeliveryQueue<Delivery extends QueuedDelivery> {
  target(monitorId: string): Promise<DeliveryTarget>;
  claimNew(monitorId: string, seqs: readonly number[]): Promise<Claim<Delivery>>;
  claimDue(monitorId: string, limit: number): Promise<Claim<Delivery>>;
  release(deliveries: readonly Delivery[]): Promise<void>;
  /** For a deleted monitor or webhook; at most 1,000 per call. Returns whether there may be more. */
  skipUndeliverable(monitorId: string): Promise<boolean>;
}

export interface Claim<Delivery> {
  deliveries: Delivery[];
  /** Monotonic time just before the claim was sent. The leases end no earlier than `claimedAt` plus their length. */
  claimedAt: number;
}

/** Result of an attempt. With `local fault` and `not started` the lease of the match was released. */
export type AttemptResult =
  | ({
      kind: 'answered';
      /** From the start until the receiver's answer, without storing the outcome. */
      afterMs: number;
    } & ReceiverAnswer)
  | { kind: 'unanswered' | 'not started' }
  | { kind: 'local fault'; code: string };

interface DispatcherDeps<Delivery extends QueuedDelivery> {
  queue: DeliveryQueue<Delivery>;
  /** Called in match order; must start its request before it returns. */
  attempt: (delivery: Delivery, claimedAt: number) => Promise<AttemptResult>;
  /** One object for all dispatchers of a process that may send to the same URLs. */
  holds: EndpointHolds;
  /** Says whether outcomes of attempts can be stored, without which nothing more is claimed. */
  outcomes: Pick<OutcomeGate, 'isOpen'>;
  /** All sending was paused because of local faults, or resumed. */
  onOutage: LocalOutageDeps['onChange'];
  /** Called with an error of the queue or an attempt. The monitor's wake-ups are dropped; the poller finds the rows. */
  onError: (error: unknown) => void;
  monotonic: () => number;
  limits?: Partial<DispatcherLimits>;
}

export interface DispatcherLimits {
  /** Maximum concurrent attempts of this process, counted from the claim on (`AttemptPermits`). */
  total: number;
  /** Maximum concurrent attempts per webhook URL (`EndpointSlots`). */
  perUrl: number;
  /** Maximum concurrent attempts per scheme, host and port; an account has at most a quarter (`EndpointSlots`). */
  perOrigin: number;
  /** An endpoint that has not answered an attempt after this time, in milliseconds, counts as silent. */
  silentAfterMs: number;
  /** Maximum wake-ups in memory; further ones are dropped. Each is a number: 50,000 take a few megabytes. */
  wakeUps: number;
}

/** `bench -- delivery --at-once N` measures the total. */
export const MAX_CONCURRENT_ATTEMPTS = 1_024;
const DEFAULT_LIMITS: DispatcherLimits = {
  total: MAX_CONCURRENT_ATTEMPTS,
  perUrl: 4,
  perOrigin: 64,
  silentAfterMs: 1_000,
  wakeUps: 50_000,
};

/**
 * What this process knows of one monitor's pending matches: wake-ups, and whether matches are due in the database. One
 * loop at a time works on a backlog, so that the monitor's attempts start in match order. In memory only: after a crash
 * the poller finds the rows.
 */
class MonitorBacklog {
  readonly monitorId: string;
  /** A permit that was handed to this monitor while it waited, as the responsiveness that the permit counts for. */
  permit: Responsiveness | undefined;
  /** The database has matches whose next attempt is due. They are claimed before wake-ups, which are newer. */
  isDue = false;
  isRunning = false;
  /** Seqs of new matches, ascending, without duplicates. */
  private wakeUps: number[] = [];
  /** Shared by all backlogs. */
  private readonly total: { count: number };

  constructor(monitorId: string, total: { count: number }) {
    this.monitorId = monitorId;
    this.total = total;
  }

  get wakeUpCount(): number {
    return this.wakeUps.length;
  }

  get isIdle(): boolean {
    return !this.isDue && this.wakeUps.length === 0;
  }

  /** Seqs arrive nearly in order, so the search starts at the end. */
  addWakeUp(seq: number): void {
    let index = this.wakeUps.length;
    while (index > 0 && this.wakeUps[index - 1]! > seq) index--;
    if (this.wakeUps[index - 1] === seq) return;
    this.wakeUps.splice(index, 0, seq);
    this.total.count++;
  }

  /** Removes and returns the first `count` seqs. */
  takeWakeUps(count: number): number[] {
    const taken = this.wakeUps.splice(0, count);
    this.total.count -= taken.length;
    return taken;
  }

  /** Removes matches that were claimed as due. */
  dropWakeUps(seqs: readonly number[]): void {
    const kept = this.wakeUps.filter((seq) => !seqs.includes(seq));
    this.total.count -= this.wakeUps.length - kept.length;
    this.wakeUps = kept;
  }
}
