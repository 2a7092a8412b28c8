import { fairLevel, laneLimits, LANES, mapLanes, ownPart } from './lanes.ts';
import { CallCounts } from './call-counts.ts';
import { ClientBudgets } from './client-budgets.ts';
import type { BudgetShares, Lane, LaneRates } from './lanes.ts';
import type { RateBudget, WindowReport } from './client-budgets.ts';

/** A rested lane may call this many seconds' worth of its rate at once. A large thread takes about twenty calls. */
const BURST_SECONDS = 20;
/**
 * Near the end of a window a burst may take only this part of the remaining calls, so that live sources do not find the
 * window empty.
 */
const BURST_FRACTION = 0.25;
/**
 * What all lanes may take together in a burst, beyond the guaranteed shares. The later a lane comes, the more of it
 * must be left when the lane borrows.
 */
const POOL_SECONDS = 10;
/** A payer whose bucket holds this part uses less than its share. */
const UNUSED_PART = 0.25;
const TAKEN_WINDOW_MS = 10_000;
const REFRESH_MS = 100;
/**
 * Calls that a lane other than live may have in flight in one process. They hold connections, and while the forum's
 * limits are unknown no rate limits them.
 */
export const MAX_IN_FLIGHT = 128;
const IN_FLIGHT_WAIT_MS = 500;
/** Wait of a lane that gets no calls for now. */
const STARVED_WAIT_MS = 5_000;
/** Payers with less demand are dropped. */
const IDLE_PER_SECOND = 0.001;

/** What a process reports to the others that use the same clients. */
interface BudgetReport {
  /**
   * By client name, which all processes derive alike; null: the forum has not sent its window yet. The shape is stored
   * in `budget_reports` and read by processes of other versions.
   */
  clients: Readonly<Record<string, WindowReport | null>>;
  /** Demand of its lanes in calls a second, without lanes at 0. */
  wanted: Partial<LaneRates>;
}

export interface ReceivedReport extends BudgetReport {
  /** Milliseconds since the report was made. */
  ageMs: number;
}

/** The account that a reading call is for. */
export interface Payer {
  id: string;
  /** The payers of one process share the lane in this proportion while their demand exceeds it. Above 0. */
  weight: number;
}

/** Who takes a call. */
export interface Claim {
  lane: Lane;
  payer?: Payer | undefined;
}

/** A call taken from the client of that index, to be settled once; or the time to wait for one. */
export type Taken = { client: number; waitMs: 0 } | { client: undefined; waitMs: number };

interface Claimant {
  demand: EventRate;
  bucket: TokenBucket;
  inFlight: number;
}

interface LaneClaimant extends Claimant {
  /** Its guaranteed share. */
  guaranteed: TokenBucket;
  /** Its calls. Demand comes in bursts, of which the limits of a moment count only the part that can be met. */
  taken: EventRate;
}

const newClaimant = (): Claimant => ({ demand: new EventRate(), bucket: new TokenBucket(), inFlight: 0 });
const newLane = (): LaneClaimant => ({
  ...newClaimant(),
  guaranteed: new TokenBucket(),
  taken: new EventRate(TAKEN_WINDOW_MS),
});

/**
 * The call budget of this process: what the headers leave of each client's window, split among the lanes
 * (lanes.ts) by the demand of all processes, as far as it is known. Nothing waits here: a refused caller
 * learns how long to wait. Times are milliseconds since 1970.
 */
export class CallBudget {
  /** The choice among the OAuth clients. */
  readonly choice: ClientBudgets;
  /** What was taken and refused, to be drained by whoever records it. */
  readonly counts = new CallCounts();
  private readonly shares: BudgetShares;
  private readonly lanes = new Map<Lane, LaneClaimant>(LANES.map((lane) => [lane, newLane()]));
  /**
   * What all lanes have taken. The limits of the lanes come from measured demand, which fluctuates, so without it they
   * would take more than the forum allows at the beginning of a window and nothing at its end.
   */
  private readonly pool = new TokenBucket();
  private readonly payers = new Map<string, Claimant & { weight: number }>();
  private others: LaneRates[] = [];
  private limits: LaneRates = mapLanes(() => Infinity);
  private sustained: LaneRates = mapLanes(() => Infinity);
  private refreshedAt = -Infinity;

  /** @param names of the clients, see BudgetReport */
  constructor(names: readonly string[], shares: BudgetShares) {
    this.choice = new ClientBudgets(names);
    this.shares = shares;
  }

  /** The budget of each client. */
  get clients(): readonly RateBudget[] {
    return this.choice.budgets;
  }

  /** Takes a call from a client that works, usually the one with the most calls left. */
  take(claim: Claim, now: number): Taken {
    const taken = this.takeFromClients(claim, now);
    this.counts.note(claim.lane, taken.client === undefined ? 'refused' : 'taken', now);
    return taken;
  }

  private takeFromClients(claim: Claim, now: number): Taken {
    const waitMs = this.claim(claim, now);
    if (waitMs > 0) return { client: undefined, waitMs };
    const client = this.choice.take(now);
    if (client === undefined) return { client, waitMs: this.choice.waitMs(now) };
    this.count(claim, now);
    return { client, waitMs: 0 };
  }

  /**
   * Takes a call that was taken and settled before from a client that is not among `tried`. It draws nothing more from
   * its lane.
   */
  takeFromAnother(claim: Claim, tried: ReadonlySet<number>, now: number): Taken {
    const client = this.choice.take(now, tried);
    if (client === undefined) return { client, waitMs: this.choice.waitMs(now) };
    for (const claimant of this.claimants(claim)) claimant.inFlight += 1;
    return { client, waitMs: 0 };
  }

  /** Takes another call of the same client, for a retry after its response. */
  takeRetry(client: number, claim: Claim, now: number): boolean {
    if (this.claim(claim, now) > 0 || this.clients[client]?.take(now) !== true) return false;
    this.count(claim, now);
    this.counts.note(claim.lane, 'taken', now);
    return true;
  }

  /** Settles a call that was taken, with the headers of its response as received. */
  settle(client: number, claim: Claim, headers: Parameters<RateBudget['settle']>[0], now: number): void {
    for (const claimant of this.claimants(claim)) claimant.inFlight -= 1;
    this.clients[client]?.settle(headers, now);
  }

  /** Calls a second that a lane of this process can sustain; Infinity while nothing is known, 0 when it must wait. */
  perSecond(lane: Lane, now: number): number {
    this.refresh(now);
    return this.sustained[lane];
  }

  /** Calls a second that the forum allows all clients together; undefined while that is not known. */
  allowedPerSecond(): number | undefined {
    return this.choice.allowedPerSecond();
  }

  report(now: number): BudgetReport {
    const demand = LANES.map((lane) => [lane, this.lanes.get(lane)?.demand.perSecond(now) ?? 0] as const);
    return {
      clients: this.choice.report(now),
      wanted: Object.fromEntries(demand.filter(([, perSecond]) => perSecond > IDLE_PER_SECOND)),
    };
  }

  /** Replaces the reports of all other processes. */
  receive(reports: readonly ReceivedReport[], now: number): void {
    this.others = reports.map(({ clients, wanted, ageMs }) => {
      // Its demand falls on our clients in proportion to how many of its clients are ours.
      const part = this.choice.learn(clients, ageMs, now);
      return mapLanes((lane) => part * (wanted[lane] ?? 0));
    });
    this.refreshedAt = -Infinity;
  }

  /** The wait of a claim, regardless of what the clients have left. A claim that must wait still counts as demand. */
  private claim(claim: Claim, now: number): number {
    const claimants = this.claimants(claim);
    for (const { demand } of claimants) demand.note(now);
    this.refresh(now);
    const isFull = claim.lane !== 'live' && (this.lanes.get(claim.lane)?.inFlight ?? 0) >= MAX_IN_FLIGHT;
    const waits = claimants.map(({ bucket }) => bucket.waitMs(now));
    // An account that does not use all of its share does not wait for what others have taken.
    const isModest = claim.payer !== undefined && claimants.at(-1)?.bucket.waitMs(now, UNUSED_PART) === 0;
    if (!isModest) waits.push(this.poolWaitMs(claim.lane, now));
    return Math.max(isFull ? IN_FLIGHT_WAIT_MS : 0, Math.min(STARVED_WAIT_MS, Math.max(...waits)));
  }

  /** Live sources and guaranteed shares do not wait for what all lanes have taken. */
  private poolWaitMs(lane: Lane, now: number): number {
    const shareMs = lane === 'live' ? 0 : (this.lanes.get(lane)?.guaranteed.waitMs(now) ?? Infinity);
    return Math.min(shareMs, this.pool.waitMs(now, (LANES.indexOf(lane) - 1) / LANES.length));
  }

  private count(claim: Claim, now: number): void {
    for (const claimant of this.claimants(claim)) {
      claimant.bucket.take(now);
      claimant.inFlight += 1;
    }
    const lane = this.lanes.get(claim.lane);
    lane?.taken.note(now);
    if (lane?.guaranteed.waitMs(now) === 0) lane.guaranteed.take(now);
    this.pool.take(now);
  }

  private claimants({ lane, payer }: Claim): Claimant[] {
    const claimants: Claimant[] = [this.lanes.get(lane) ?? newClaimant()];
    if (payer === undefined) return claimants;
    const known = this.payers.get(payer.id);
    if (known) {
      known.weight = payer.weight;
      return [...claimants, known];
    }
    const added = { ...newClaimant(), weight: payer.weight };
    this.payers.set(payer.id, added);
    this.refreshedAt = -Infinity;
    return [...claimants, added];
  }

  private refresh(now: number): void {
    if (now - this.refreshedAt < REFRESH_MS) return;
    this.refreshedAt = now;
    const perSecond = this.choice.perSecond(now);
    const mine = mapLanes((lane) => this.lanes.get(lane)?.demand.perSecond(now) ?? 0);
    const taken = mapLanes((lane) => this.lanes.get(lane)?.taken.perSecond(now) ?? 0);
    this.limits = laneLimits(perSecond, { mine, others: this.others }, this.shares);
    this.sustained = laneLimits(perSecond, { mine: taken, others: this.others }, this.shares);
    // All processes may burst at the same moment, before they receive each other's reports.
    const burstSeconds = Math.min(
      BURST_SECONDS,
      (BURST_FRACTION * this.choice.secondsLeft(now)) / (1 + this.others.length),
    );
    for (const [lane, { bucket, guaranteed }] of this.lanes) {
      bucket.setRate(this.limits[lane], burstSeconds, now);
      const share = this.shares[lane] ?? 0;
      guaranteed.setRate(share === 0 ? 0 : share * perSecond, burstSeconds, now);
    }
    const mineOfAll = ownPart(perSecond, { mine, others: this.others }, this.shares);
    this.pool.setRate(mineOfAll, Math.min(POOL_SECONDS, burstSeconds), now);
    this.refreshPayers(burstSeconds, now);
  }

  private refreshPayers(burstSeconds: number, now: number): void {
    for (const [payer, { demand, inFlight }] of this.payers) {
      if (inFlight === 0 && demand.perSecond(now) < IDLE_PER_SECOND) this.payers.delete(payer);
    }
    const amount = this.limits.reading;
    const payers = [...this.payers.values()].map((payer) => ({
      ...payer,
      callsPerSecond: payer.demand.perSecond(now),
    }));
    const total = payers.reduce((sum, { callsPerSecond }) => sum + callsPerSecond, 0);
    const weights = payers.map(({ weight }) => weight);
    const perWeight = amount / weights.reduce((sum, weight) => sum + weight, 0);
    const level = fairLevel(
      amount,
      payers.map(({ callsPerSecond }) => callsPerSecond),
      weights,
    );
    for (const { bucket, weight, callsPerSecond } of payers) {
      // While all demand is met, one payer may use everything that the others leave.
      const unclaimed = Math.max(perWeight * weight, amount - total + callsPerSecond);
      bucket.setRate(level === Infinity && amount !== Infinity ? unclaimed : level * weight, burstSeconds, now);
    }
  }
}

/** The usual averaging time of rates. An unused share is lent to others within a second. */
const RATE_WINDOW_MS = 500;
/** Minimum burst at any rate: as many calls as a page of comments makes at a time. */
const MIN_BURST = 4;

/**
 * Measures the recent rate of events, in events a second, as an exponentially weighted count. Times are milliseconds.
 */
class EventRate {
  private readonly windowMs: number;
  private rate = 0;
  private updatedAt = -Infinity;

  constructor(windowMs = RATE_WINDOW_MS) {
    this.windowMs = windowMs;
  }

  note(now: number): void {
    this.rate = this.perSecond(now) + 1000 / this.windowMs;
    this.updatedAt = now;
  }

  perSecond(now: number): number {
    return this.rate * Math.exp(-Math.max(0, now - this.updatedAt) / this.windowMs);
  }
}

/**
 * A token bucket whose rate may change at any time. It starts full. When the rate falls, its tokens are cut. Infinity
 * means no limit. Tokens can be owed, up to as many as the bucket holds.
 */
class TokenBucket {
  private tokens = Infinity;
  private capacity = Infinity;
  private rate = Infinity;
  private updatedAt = -Infinity;

  /** @param burstSeconds capacity of the bucket in seconds of the rate */
  setRate(perSecond: number, burstSeconds: number, now: number): void {
    this.fill(now);
    this.rate = perSecond;
    this.capacity = Math.max(MIN_BURST, perSecond * burstSeconds);
    this.tokens = Math.max(-this.capacity, Math.min(this.tokens, this.capacity));
  }

  /**
   * Milliseconds until a token is available; Infinity: never at this rate.
   *
   * @param reserve the part of a full bucket that must be left, from 0 to 1
   */
  waitMs(now: number, reserve = 0): number {
    this.fill(now);
    const missing = 1 - this.tokens + (reserve === 0 ? 0 : reserve * this.capacity);
    return missing <= 0 || this.tokens === Infinity ? 0 : (missing * 1000) / this.rate;
  }

  take(now: number): void {
    this.fill(now);
    this.tokens -= 1;
  }

  private fill(now: number): void {
    this.tokens =
      this.rate === Infinity ? Infinity : this.tokens + (Math.max(0, now - this.updatedAt) * this.rate) / 1000;
    this.updatedAt = now;
  }
}
