import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import {
  releaseLiveTailSlots,
  renewLiveTailSlots,
  takeLiveTailSlot,
} from '../../../shared/stores/matches/live-tails.ts';
import type { LiveTailSlot } from '../../../shared/stores/matches/live-tails.ts';
import type { LiveTailTiming } from './live-tail-timing.ts';

export interface StreamSlotsDeps {
  db: Queryable;
  logger: Logger;
  timing: Pick<LiveTailTiming, 'renewMs' | 'leaseMs'>;
}

/** A release never waits longer than this for a database that does not answer: the leases expire by themselves. */
const GIVE_UP_MS = 2_000;

/** Open streams per account, over all processes. */
export const STREAMS_PER_ACCOUNT = 10;

/**
 * The stream slots that this process has leased for its accounts. One timer renews all leases; the next renewal makes
 * up for a failed one.
 */
export class StreamSlots {
  private readonly options: StreamSlotsDeps;
  private readonly held = new Set<LiveTailSlot>();
  private renewal: NodeJS.Timeout | undefined;

  constructor(options: StreamSlotsDeps) {
    this.options = options;
  }

  /** Leases a slot for one more stream of the account; undefined when all are taken. */
  async take(accountId: string): Promise<LiveTailSlot | undefined> {
    const { db, timing } = this.options;
    const wanted = {
      accountId,
      streamId: randomUUID(),
      most: STREAMS_PER_ACCOUNT,
      leaseSeconds: timing.leaseMs / 1_000,
    };
    for (;;) {
      const slot = await takeLiveTailSlot(db, wanted);
      if (slot === 'full') return undefined;
      // Another stream took the slot. That happens at most once per slot, so the loop ends.
      if (slot === 'lost') continue;
      const taken = { accountId, slot, streamId: wanted.streamId };
      this.held.add(taken);
      this.renewal ??= setInterval(() => void this.renew(), timing.renewMs);
      return taken;
    }
  }

  /** Never throws: a slot that could not be released is free when its lease expires. */
  async giveBack(slot: LiveTailSlot): Promise<void> {
    if (!this.held.delete(slot)) return;
    await this.giveUp([slot]);
  }

  /** Releases all slots of this process in one statement. */
  async giveBackAll(): Promise<void> {
    const slots = [...this.held];
    this.held.clear();
    await this.giveUp(slots);
  }

  private async giveUp(slots: readonly LiveTailSlot[]): Promise<void> {
    if (this.held.size === 0) {
      clearInterval(this.renewal);
      this.renewal = undefined;
    }
    if (slots.length === 0) return;
    try {
      const giving = releaseLiveTailSlots(this.options.db, slots);
      await withDeadline(giving, GIVE_UP_MS, 'Postgres did not answer in time');
    } catch (error) {
      this.options.logger.warn({ err: error }, 'stream slots stay taken until their leases expire');
    }
  }

  private async renew(): Promise<void> {
    const { db, timing, logger } = this.options;
    try {
      await renewLiveTailSlots(db, [...this.held], timing.leaseMs / 1_000);
    } catch (error) {
      logger.warn({ err: error }, 'stream slots could not be renewed; the streams continue');
    }
  }
}
