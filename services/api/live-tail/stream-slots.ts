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

/** Nobody waits longer for a database that fell silent: the leases end by themselves. */
const GIVE_UP_MS = 2_000;

/** Open streams of an account, over all processes. */
export const STREAMS_PER_ACCOUNT = 10;

/**
 * The places that this process's streams hold among those of their accounts. Their leases are renewed together while
 * there are any; a renewal that fails is made up for by the next.
 */
export class StreamSlots {
  private readonly options: StreamSlotsDeps;
  private readonly held = new Set<LiveTailSlot>();
  private renewal: NodeJS.Timeout | undefined;

  constructor(options: StreamSlotsDeps) {
    this.options = options;
  }

  /** A place for one more stream of the account; undefined when all are taken. */
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
      // Each time another stream got a place, so this ends.
      if (slot === 'lost') continue;
      const taken = { accountId, slot, streamId: wanted.streamId };
      this.held.add(taken);
      this.renewal ??= setInterval(() => void this.renew(), timing.renewMs);
      return taken;
    }
  }

  /** Never fails: a place that cannot be given back is free when its lease ends. */
  async giveBack(slot: LiveTailSlot): Promise<void> {
    if (!this.held.delete(slot)) return;
    await this.giveUp([slot]);
  }

  /** All places of this process at once. */
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
      this.options.logger.warn({ err: error }, 'places of streams stay taken until their leases end');
    }
  }

  private async renew(): Promise<void> {
    const { db, timing, logger } = this.options;
    try {
      await renewLiveTailSlots(db, [...this.held], timing.leaseMs / 1_000);
    } catch (error) {
      logger.warn({ err: error }, 'the places of streams could not be renewed; the streams go on');
    }
  }
}
