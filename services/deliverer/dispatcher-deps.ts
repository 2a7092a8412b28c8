import type { DeliveryTarget } from '../../shared/stores/deliveries/delivery-queue.ts';
import type { EndpointHolds, ReceiverAnswer } from './endpoint-holds.ts';
import type { LocalOutageDeps } from './local-outage.ts';
import type { OutcomeGate } from './outcome-gate.ts';

/** What the dispatcher knows of a claimed match, or of a claimed event of a monitor. */
export interface QueuedDelivery {
  /** Order within the monitor. */
  seq: number;
  /** Attempts made so far. */
  attempt: number;
  webhookUrl: string;
}

/** The dispatcher's view of the pending matches in the database. Each claim is committed when its promise resolves. */
export interface DeliveryQueue<Delivery extends QueuedDelivery> {
  target(monitorId: string): Promise<DeliveryTarget>;
  claimNew(monitorId: string, seqs: readonly number[]): Promise<Claim<Delivery>>;
  claimDue(monitorId: string, limit: number): Promise<Claim<Delivery>>;
  release(deliveries: readonly Delivery[]): Promise<void>;
  /**
   * Marks pending matches as skipped when the monitor or its webhook is deleted, at most 1,000 per call. Returns
   * whether there may be more.
   */
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

export interface DispatcherDeps<Delivery extends QueuedDelivery> {
  queue: DeliveryQueue<Delivery>;
  /**
   * Makes one attempt, from the first byte to the stored outcome. Called in match order; must start its request before
   * it returns.
   */
  attempt: (delivery: Delivery, claimedAt: number) => Promise<AttemptResult>;
  /** One object for all dispatchers of a process that may send to the same URLs. */
  holds: EndpointHolds;
  /** Says whether outcomes of attempts can be stored, without which nothing more is claimed. */
  outcomes: Pick<OutcomeGate, 'isOpen'>;
  /** All sending was paused because of local faults, or resumed. */
  onOutage: LocalOutageDeps['onChange'];
  /** Called with an error of the queue or an attempt. The monitor's hints are dropped; the poller finds the rows. */
  onError: (error: unknown) => void;
  /** Monotonic clock, milliseconds. */
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
  /** Maximum hints in memory; further ones are dropped. A hint is a number: 50,000 take a few megabytes. */
  hints: number;
}

/** `bench -- delivery --at-once N` measures the total. */
export const MAX_CONCURRENT_ATTEMPTS = 1_024;
export const DEFAULT_LIMITS: DispatcherLimits = {
  total: MAX_CONCURRENT_ATTEMPTS,
  perUrl: 4,
  perOrigin: 64,
  silentAfterMs: 1_000,
  hints: 50_000,
};
