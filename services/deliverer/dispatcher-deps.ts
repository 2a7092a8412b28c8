import type { ClaimedDelivery } from '../../shared/stores/deliveries/deliveries.ts';
import type { DeliveryTarget } from '../../shared/stores/deliveries/delivery-queue.ts';
import type { LocalOutageDeps } from './local-outage.ts';

/** What the dispatcher asks of the database. Each claim is committed when it resolves. */
export interface DeliveryQueue {
  target(monitorId: string): Promise<DeliveryTarget>;
  claimNew(monitorId: string, seqs: readonly number[]): Promise<Claim>;
  claimDue(monitorId: string, limit: number): Promise<Claim>;
  release(deliveries: readonly ClaimedDelivery[]): Promise<void>;
  /** Returns whether there may be more to skip. */
  skipUndeliverable(monitorId: string): Promise<boolean>;
}

export interface Claim {
  deliveries: ClaimedDelivery[];
  /** Moment before the claim was sent, on the monotonic clock: the leases end no earlier than their length after it. */
  claimedAt: number;
}

/** How an attempt ended. With a local fault, or unmade, its match was given back. */
export type AttemptResult =
  | {
      kind: 'answered';
      /** From its begin until the receiver's answer; storing the outcome takes longer. */ afterMs: number;
    }
  | { kind: 'unanswered' | 'unmade' }
  | { kind: 'local fault'; code: string };

export interface DispatcherDeps {
  queue: DeliveryQueue;
  /**
   * One attempt, from its first byte to its stored outcome. Called in match order; begins its request before it
   * returns.
   */
  attempt: (delivery: ClaimedDelivery, claimedAt: number) => Promise<AttemptResult>;
  /** Sending as a whole stopped because of this side, or went on. */
  onOutage: LocalOutageDeps['onChange'];
  /** An error of the queue or an attempt. Hints of that monitor are dropped: the poller finds the rows. */
  onError: (error: unknown) => void;
  /** Milliseconds since some fixed moment. */
  monotonic: () => number;
  limits?: Partial<DispatcherLimits>;
}

export interface DispatcherLimits {
  /** Attempts of this process under way at once, from the claim on. */
  total: number;
  perUrl: number;
  perOrigin: number;
  /** Hints kept in all; more are dropped. A hint is a number: 50,000 take a few megabytes. */
  hints: number;
}

/** `bench -- delivery --at-once N` measures the total. */
export const MAX_CONCURRENT_ATTEMPTS = 1_024;
export const DEFAULT_LIMITS: DispatcherLimits = {
  total: MAX_CONCURRENT_ATTEMPTS,
  perUrl: 4,
  perOrigin: 64,
  hints: 50_000,
};
