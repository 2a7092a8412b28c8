import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { releaseLiveTailSlots, renewLiveTailSlots, takeLiveTailSlot } from '../../../shared/matches/live-tails.ts';
import type { LiveTailSlot } from '../../../shared/matches/live-tails.ts';
import type { LiveTailTiming } from './live-tail.ts';

interface StreamSlotsDeps {
  db: Queryable;
  logger: Logger;
  timing: Pick<LiveTailTiming, 'renewMs' | 'leaseMs'>;
}

/** A release never waits longer than this for a database that does not answer: the leases expire by themselves. */
const RELEASE_TIMEOUT_MS = 2_000;

/** Open streams per account, over all processes. */
export const STREAMS_PER_ACCOUNT = 10;

/** One timer renews all leases of this process; the next renewal makes up for a failed one. */
export class StreamSlots {
  private readonly options: StreamSlotsDeps;
  private readonly leased = new Set<LiveTailSlot>();
  private renewal: NodeJS.Timeout | undefined;
  /** The renewals under way. */
  private renewing: Promise<void> = Promise.resolve();

  constructor(options: StreamSlotsDeps) {
    this.options = options;
  }

  /** Leases a slot for one more stream of the account; undefined when all are taken. */
  async take(accountId: string): Promise<LiveTailSlot | undefined> {
    const { db, timing } = this.options;
    const stream = { accountId, streamId: randomUUID() };
    const lease = { ...stream, maxSlots: STREAMS_PER_ACCOUNT, leaseSeconds: timing.leaseMs / 1_000 };
    let slot = await takeLiveTailSlot(db, lease);
    // Another stream took the slot. That happens at most once per slot, so the loop ends.
    while (slot === 'lost') slot = await takeLiveTailSlot(db, lease);
    if (slot === 'full') return undefined;
    const taken = { ...stream, slot };
    this.leased.add(taken);
    this.renewal ??= setInterval(() => {
      const renewed = this.renew();
      this.renewing = this.renewing.then(() => renewed);
    }, timing.renewMs);
    return taken;
  }

  /** Never throws: a slot that could not be released is free when its lease expires. */
  async release(slot: LiveTailSlot): Promise<void> {
    if (!this.leased.delete(slot)) return;
    await this.releaseLeases([slot]);
  }

  async releaseAll(): Promise<void> {
    const slots = [...this.leased];
    this.leased.clear();
    await this.releaseLeases(slots);
  }

  private async releaseLeases(slots: readonly LiveTailSlot[]): Promise<void> {
    if (this.leased.size === 0) {
      clearInterval(this.renewal);
      this.renewal = undefined;
    }
    if (slots.length === 0) return;
    try {
      // A renewal that began before would take the released slots again.
      const released = this.renewing.then(() => releaseLiveTailSlots(this.options.db, slots));
      await withDeadline(released, RELEASE_TIMEOUT_MS, 'Postgres did not answer in time');
    } catch (error) {
      this.options.logger.warn({ err: error }, 'stream slots stay taken until their leases expire');
    }
  }

  private async renew(): Promise<void> {
    const { db, timing, logger } = this.options;
    try {
      await renewLiveTailSlots(db, [...this.leased], timing.leaseMs / 1_000);
    } catch (error) {
      logger.warn({ err: error }, 'stream slots could not be renewed; the streams continue');
    }
  }
}
