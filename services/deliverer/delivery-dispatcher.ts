import type { ClaimedDelivery } from '../../shared/stores/deliveries.ts';
import type { DeliveryTarget } from '../../shared/stores/delivery-queue.ts';
import { DeliveryLane } from './delivery-lane.ts';
import { EndpointSlots, endpointOf } from './endpoint-slots.ts';
import type { Endpoint } from './endpoint-slots.ts';

/** What the dispatcher asks of the database. Each claim is committed when it resolves. */
export interface DeliveryQueue {
  target(monitorId: string): Promise<DeliveryTarget>;
  claimNew(monitorId: string, seqs: readonly number[]): Promise<Claim>;
  claimDue(monitorId: string, limit: number): Promise<Claim>;
  giveBack(deliveries: readonly ClaimedDelivery[]): Promise<void>;
  /** Returns whether there may be more to skip. */
  skipUndeliverable(monitorId: string): Promise<boolean>;
}

export interface Claim {
  deliveries: ClaimedDelivery[];
  /** Moment before the claim was sent, on the monotonic clock: the leases end no earlier than their length after it. */
  claimedAt: number;
}

export interface DispatcherOptions {
  queue: DeliveryQueue;
  /** One attempt, from its first byte to its stored outcome. Called in match order; begins its request before it returns. */
  attempt: (delivery: ClaimedDelivery, claimedAt: number) => Promise<void>;
  /** An error of the queue or an attempt. Hints of that monitor are dropped: the poller finds the rows. */
  onError: (error: unknown) => void;
  /** Milliseconds since some fixed moment. */
  monotonic: () => number;
  limits?: Partial<DispatcherLimits>;
}

export interface DispatcherLimits {
  perUrl: number;
  perOrigin: number;
  /** Hints kept in all; more are dropped. A hint is a number: 50,000 take a few megabytes. */
  hints: number;
}

const DEFAULT_LIMITS: DispatcherLimits = { perUrl: 4, perOrigin: 64, hints: 50_000 };
/** Only a guess which endpoint needs a slot: the claim tells the URL that counts. */
const TARGET_KEPT_MS = 10_000;
const TARGETS_KEPT = 20_000;

/**
 * Decides what is attempted when. A monitor's lane collects hints and the word of the poller; whenever its endpoint has free
 * slots, as many matches are claimed and their attempts begun; without free slots the monitor waits in the endpoint's queue.
 * Nothing is awaited across endpoints, so a dead one delays nobody.
 */
export class DeliveryDispatcher {
  private readonly options: DispatcherOptions;
  private readonly limits: DispatcherLimits;
  private readonly slots: EndpointSlots;
  private readonly lanes = new Map<string, DeliveryLane>();
  private readonly targets = new Map<string, { endpoint: Endpoint | null; until: number }>();
  private readonly underWay = new Set<Promise<void>>();
  private hintCount = 0;
  private isStopping = false;

  constructor(options: DispatcherOptions) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.slots = new EndpointSlots(this.limits.perUrl, this.limits.perOrigin);
  }

  /** A match was just recorded. Returns false when the queue is full and the hint is dropped. */
  hint(monitorId: string, seq: number): boolean {
    if (this.hintCount >= this.limits.hints) return false;
    const lane = this.lane(monitorId);
    if (lane.addHint(seq)) this.hintCount++;
    this.wake(lane);
    return true;
  }

  /** The poller saw that a monitor has due matches, and where they go. */
  due(target: DeliveryTarget): void {
    this.remember(target);
    const lane = this.lane(target.monitorId);
    lane.isDue = true;
    this.wake(lane);
  }

  /** Claims nothing more and gives back what is claimed and not begun; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.isStopping = true;
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
  }

  private lane(monitorId: string): DeliveryLane {
    let lane = this.lanes.get(monitorId);
    if (!lane) {
      lane = new DeliveryLane(monitorId);
      this.lanes.set(monitorId, lane);
    }
    return lane;
  }

  private wake(lane: DeliveryLane): void {
    if (lane.isRunning || this.isStopping) return;
    lane.isRunning = true;
    this.track(this.work(lane));
  }

  private async work(lane: DeliveryLane): Promise<void> {
    try {
      // No await between the last look at the lane and isRunning = false: what comes later wakes it again.
      while (!lane.isIdle && !this.isStopping) {
        const endpoint = await this.endpoint(lane.monitorId);
        if (!endpoint) {
          await this.skip(lane);
          continue;
        }
        const wanted = lane.isDue ? this.limits.perUrl : lane.hintCount;
        const taken = this.slots.take(endpoint, wanted);
        if (taken === 0) {
          this.slots.waitFor(endpoint, lane.monitorId);
          break;
        }
        await this.fill(lane, endpoint, taken);
      }
    } catch (error) {
      lane.isDue = false;
      this.takeHints(lane, lane.hintCount);
      this.options.onError(error);
    }
    lane.isRunning = false;
    if (lane.isIdle) this.lanes.delete(lane.monitorId);
  }

  private async fill(lane: DeliveryLane, endpoint: Endpoint, taken: number): Promise<void> {
    let unused = taken;
    try {
      const { deliveries, claimedAt } = await this.claim(lane, taken);
      const moved = deliveries.filter(({ webhookUrl }) => webhookUrl !== endpoint.url);
      if (moved.length > 0 || this.isStopping) {
        this.targets.delete(lane.monitorId);
        for (const { attempt, seq } of deliveries) if (attempt === 0 && lane.addHint(seq)) this.hintCount++;
        lane.isDue ||= deliveries.some(({ attempt }) => attempt > 0);
        await this.options.queue.giveBack(deliveries);
        return;
      }
      for (const delivery of deliveries) {
        unused--;
        this.track(this.run(delivery, claimedAt, endpoint));
      }
    } finally {
      this.release(endpoint, unused);
    }
  }

  private async claim(lane: DeliveryLane, taken: number): Promise<Claim> {
    const { queue } = this.options;
    if (!lane.isDue) return queue.claimNew(lane.monitorId, this.takeHints(lane, taken));
    lane.isDue = false;
    const claim = await queue.claimDue(lane.monitorId, taken);
    this.hintCount -= lane.dropHints(claim.deliveries.map(({ seq }) => seq));
    // As many as asked for: there may be more. None: perhaps the monitor or its webhook is gone, so ask anew next time.
    if (claim.deliveries.length === taken) lane.isDue = true;
    if (claim.deliveries.length === 0) this.targets.delete(lane.monitorId);
    return claim;
  }

  private async run(delivery: ClaimedDelivery, claimedAt: number, endpoint: Endpoint): Promise<void> {
    try {
      await this.options.attempt(delivery, claimedAt);
    } catch (error) {
      this.options.onError(error);
    } finally {
      this.release(endpoint, 1);
    }
  }

  private async skip(lane: DeliveryLane): Promise<void> {
    this.takeHints(lane, lane.hintCount);
    lane.isDue = false;
    if (await this.options.queue.skipUndeliverable(lane.monitorId)) lane.isDue = true;
  }

  private release(endpoint: Endpoint, count: number): void {
    if (count === 0) return;
    const wantsOne = (monitorId: string) => {
      const lane = this.lanes.get(monitorId);
      return lane !== undefined && !lane.isIdle && !lane.isRunning;
    };
    for (const monitorId of this.slots.release(endpoint, count, wantsOne)) this.wake(this.lanes.get(monitorId)!);
  }

  private takeHints(lane: DeliveryLane, count: number): number[] {
    const seqs = lane.takeHints(count);
    this.hintCount -= seqs.length;
    return seqs;
  }

  private async endpoint(monitorId: string): Promise<Endpoint | null> {
    const known = this.targets.get(monitorId);
    if (known && known.until > this.options.monotonic()) return known.endpoint;
    return this.remember(await this.options.queue.target(monitorId));
  }

  private remember({ monitorId, webhookUrl }: DeliveryTarget): Endpoint | null {
    if (this.targets.size >= TARGETS_KEPT) this.targets.clear();
    const endpoint = webhookUrl === null ? null : endpointOf(webhookUrl);
    this.targets.set(monitorId, { endpoint, until: this.options.monotonic() + TARGET_KEPT_MS });
    return endpoint;
  }

  private track(work: Promise<void>): void {
    this.underWay.add(work);
    void work.finally(() => this.underWay.delete(work));
  }
}
