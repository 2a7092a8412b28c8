import { setTimeout as wait } from 'node:timers/promises';
import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';

const BODY = 'Iron, water and air make rust; oil and paint keep it away. '.repeat(6);
const FULL_BATCH = 500;

/** Matches of new things, spread over monitors. */
export class RecorderLoad {
  private readonly pool: Pool;
  private readonly monitorIds: readonly string[];
  private made = 0;

  constructor(pool: Pool, monitorIds: readonly string[]) {
    this.pool = pool;
    this.monitorIds = monitorIds;
  }

  /** Processes batches one after another. Returns matches per second. */
  async flatOut(ms: number): Promise<number> {
    const begun = performance.now();
    let recorded = 0;
    while (performance.now() - begun < ms) {
      await this.record(FULL_BATCH);
      recorded += FULL_BATCH;
    }
    return Math.round((recorded * 1_000) / (performance.now() - begun));
  }

  /**
   * Starts a batch every 100 ms, even if the previous one is not done, until the time ends or the signal aborts.
   *
   * @returns the milliseconds of each batch from its scheduled start
   */
  async evenly(perSecond: number, ms: number, signal?: AbortSignal): Promise<number[]> {
    const begun = performance.now();
    const latencies: number[] = [];
    const sent: Promise<void>[] = [];
    const record = async (scheduledAt: number) => {
      await this.record(Math.round(perSecond / 10));
      latencies.push(performance.now() - scheduledAt);
    };
    while (sent.length * 100 < ms && signal?.aborted !== true) {
      const scheduledAt = begun + sent.length * 100;
      await wait(Math.max(0, scheduledAt - performance.now()));
      sent.push(record(scheduledAt));
    }
    await Promise.all(sent);
    return latencies;
  }

  private async record(size: number): Promise<void> {
    const batch = Array.from({ length: size }, () => this.candidate());
    const { matches } = await recordBatch({ pool: this.pool, toleranceMs: 0 }, batch);
    if (matches.length !== size) throw new Error(`${size} candidates became ${matches.length} matches`);
  }

  private candidate(): Candidate {
    const monitorId = this.monitorIds[(this.made * 7_919) % this.monitorIds.length]!;
    this.made += 1;
    return candidateOf({
      monitorId,
      thingId: `t1_new${this.made.toString(36)}`,
      terms: ['rust', 'iron ore'],
      body: BODY,
    });
  }
}
