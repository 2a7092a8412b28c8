import type { ClaimedDelivery } from '../../shared/stores/deliveries/deliveries.ts';
import type { DeliveryTarget } from '../../shared/stores/deliveries/delivery-queue.ts';
import { AttemptPermits } from './attempt-permits.ts';
import type { Standing } from './attempt-permits.ts';
import { DeliveryLane } from './delivery-lane.ts';
import { EndpointSlots, endpointOf } from './endpoint-slots.ts';
import { EndpointStandings } from './endpoint-standings.ts';
import type { Endpoint } from './endpoint-slots.ts';
import { LocalOutage } from './local-outage.ts';
import { DEFAULT_LIMITS } from './dispatcher-deps.ts';
import type { Claim, DispatcherLimits, DispatcherDeps } from './dispatcher-deps.ts';

/** Room for attempts at an endpoint: slots and permits, as many of each. */
interface Grant {
  endpoint: Endpoint;
  standing: Standing;
  count: number;
  isProbe: boolean;
}

/** An endpoint that has not answered by then counts as silent. */
const SOON_MS = 1_000;
/** Only a guess which endpoint needs a slot: the claim tells the URL that counts. */
const TARGET_KEPT_MS = 10_000;
const TARGETS_KEPT = 20_000;

/**
 * Decides what is attempted when. A monitor's lane collects hints and the word of the poller; whenever its endpoint has
 * free slots, and the process a permit for its standing, as many matches are claimed and their attempts begun; else the
 * monitor waits, in the endpoint's queue or for a permit. Nothing is awaited across endpoints, so a dead one delays
 * nobody.
 */
export class DeliveryDispatcher {
  private readonly options: DispatcherDeps;
  private readonly limits: DispatcherLimits;
  private readonly slots: EndpointSlots;
  private readonly permits: AttemptPermits;
  private readonly standings = new EndpointStandings();
  private readonly outage: LocalOutage;
  private readonly lanes = new Map<string, DeliveryLane>();
  private readonly targets = new Map<string, { endpoint: Endpoint | null; until: number }>();
  private readonly underWay = new Set<Promise<void>>();
  private hintCount = 0;
  private isStopping = false;

  constructor(options: DispatcherDeps) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.slots = new EndpointSlots(this.limits.perUrl, this.limits.perOrigin);
    this.permits = new AttemptPermits(this.limits.total);
    this.outage = new LocalOutage({ monotonic: options.monotonic, onChange: options.onOutage });
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
        const grant = this.grant(lane, endpoint);
        // Handed one just now, by what was released.
        if (!grant && lane.permit) continue;
        if (!grant) break;
        await this.fill(lane, grant);
      }
    } catch (error) {
      this.forget(lane);
      this.options.onError(error);
    }
    lane.isRunning = false;
    this.returnPermit(lane);
    if (lane.isIdle) this.lanes.delete(lane.monitorId);
  }

  /** Slots and permits for attempts at an endpoint; undefined when the lane has to wait, or is left to the poller. */
  private grant(lane: DeliveryLane, endpoint: Endpoint): Grant | undefined {
    const admitted = this.outage.admits(endpoint.url);
    if (admitted === 'no') {
      this.forget(lane);
      return undefined;
    }
    const isProbe = admitted === 'as a probe';
    const standing = lane.permit ?? this.standings.of(endpoint.url);
    const handed = lane.permit ? 1 : 0;
    lane.permit = undefined;
    const slots = this.slots.take(endpoint, isProbe ? 1 : lane.isDue ? this.limits.perUrl : lane.hintCount);
    const count = handed + this.permits.take(standing, Math.max(0, slots - handed));
    const used = Math.min(slots, count);
    if (used > 0) this.release({ endpoint, standing }, { slots: slots - used, permits: 0 });
    else {
      if (isProbe) this.outage.probeUnused();
      if (slots === 0) this.slots.waitFor(endpoint, lane.monitorId);
      else this.permits.waitFor(standing, lane.monitorId);
      this.release({ endpoint, standing }, { slots, permits: count });
      return undefined;
    }
    return { endpoint, standing, count: used, isProbe };
  }

  private async fill(lane: DeliveryLane, grant: Grant): Promise<void> {
    const { endpoint } = grant;
    let unused = grant.count;
    try {
      const { deliveries, claimedAt } = await this.claim(lane, grant.count);
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
        this.track(this.run(delivery, claimedAt, grant));
      }
    } finally {
      if (grant.isProbe && unused === grant.count) this.outage.probeUnused();
      this.release(grant, { slots: unused, permits: unused });
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

  private async run(delivery: ClaimedDelivery, claimedAt: number, grant: Grant): Promise<void> {
    const { endpoint } = grant;
    let { standing } = grant;
    const late = setTimeout(() => {
      this.permits.move(standing, 'silent');
      standing = 'silent';
      this.handOutPermits();
    }, SOON_MS);
    try {
      const end = await this.options.attempt(delivery, claimedAt);
      clearTimeout(late);
      if (end.kind === 'local fault') this.outage.failed(endpoint, end.code, grant.isProbe);
      else if (end.kind === 'unmade') {
        if (grant.isProbe) this.outage.probeUnused();
      } else {
        this.outage.gotOut(endpoint.url);
        // By the receiver's time alone: a Postgres that is slow to store outcomes makes no receiver silent.
        const isSoon = end.kind === 'answered' && end.afterMs <= SOON_MS;
        this.standings.set(endpoint.url, isSoon ? 'answering' : 'silent');
      }
    } catch (error) {
      if (grant.isProbe) this.outage.probeUnused();
      this.options.onError(error);
    } finally {
      clearTimeout(late);
      this.release({ endpoint, standing }, { slots: 1, permits: 1 });
    }
  }

  private async skip(lane: DeliveryLane): Promise<void> {
    this.forget(lane);
    if (await this.options.queue.skipUndeliverable(lane.monitorId)) lane.isDue = true;
  }

  private release(
    { endpoint, standing }: Pick<Grant, 'endpoint' | 'standing'>,
    count: { slots: number; permits: number },
  ): void {
    this.permits.release(standing, count.permits);
    if (count.slots > 0) {
      const wantsOne = (monitorId: string) => {
        const lane = this.lanes.get(monitorId);
        return lane !== undefined && !lane.isIdle && !lane.isRunning;
      };
      const woken = this.slots.release(endpoint, count.slots, wantsOne);
      for (const monitorId of woken) this.wake(this.lanes.get(monitorId)!);
    }
    this.handOutPermits();
  }

  private handOutPermits(): void {
    if (this.isStopping) return;
    const wantsOne = (monitorId: string) => {
      const lane = this.lanes.get(monitorId);
      return lane !== undefined && !lane.isIdle && lane.permit === undefined;
    };
    for (const { monitorId, standing } of this.permits.handOut(wantsOne)) {
      const lane = this.lanes.get(monitorId)!;
      lane.permit = standing;
      this.wake(lane);
    }
  }

  /** A permit that was handed to a lane which has nothing to use it for any more. */
  private returnPermit(lane: DeliveryLane): void {
    if (!lane.permit) return;
    this.permits.release(lane.permit, 1);
    lane.permit = undefined;
    this.handOutPermits();
  }

  /** The poller finds the rows again. */
  private forget(lane: DeliveryLane): void {
    lane.isDue = false;
    this.takeHints(lane, lane.hintCount);
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

  private remember({ monitorId, webhookUrl, isAnswering }: DeliveryTarget): Endpoint | null {
    if (webhookUrl !== null && isAnswering !== null) this.standings.assume(webhookUrl, isAnswering);
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
