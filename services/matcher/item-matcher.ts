import { z } from 'zod';
import type { Candidate } from '../../schemas/candidate.ts';
import { forumItem } from '../../schemas/forum-item.ts';
import type { AssignmentApi } from '../../shared/kafka/batch-consumer-options.ts';
import type { BatchOutcome, ConsumedBatch } from '../../shared/kafka/consumed-batch.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { CANDIDATE_PORTION } from './held-monitors.ts';
import type { HeldMonitors } from './held-monitors.ts';
import type { MonitorChanges } from './monitor-changes.ts';
import { RING_MS } from './recent-items.ts';
import type { EnteredItem, RecentItems } from './recent-items.ts';

/** Stored with each offset commit, for whoever owns the partition next. */
const commitMetadata = z.object({
  /** Offset at which reading has to begin so that the ring is full again. */
  refill: z.string().regex(/^\d+$/),
  /** Append time of the last committed record, in milliseconds since the epoch. */
  at: z.number(),
});

const SLICE_MS = 8;

/**
 * Items in, candidates out. Each batch, and what a crash after the step repeats:
 *   1. every item is matched and put into the ring (memory only);
 *   2. the candidates are published (again: the recorder knows each pair);
 *   3. scans for changed monitors that are under way are published;
 *   4. the offset is committed, with where a refill has to begin (by the consumer, after handle).
 */
export class ItemMatcher {
  private readonly monitors: HeldMonitors;
  private readonly recent: RecentItems;
  private readonly changes: Pick<MonitorChanges, 'settled'>;
  private readonly publish: (candidates: Candidate[]) => Promise<void>;
  private readonly metrics: Metrics;
  private readonly logger: Logger;
  private readonly toleranceMs: number;
  /** By partition: the append time of the last record that the owner before had committed. */
  private readonly takenOverAt = new Map<string, number>();

  constructor(parts: {
    monitors: HeldMonitors;
    recent: RecentItems;
    changes: Pick<MonitorChanges, 'settled'>;
    publish: (candidates: Candidate[]) => Promise<void>;
    metrics: Metrics;
    logger: Logger;
    toleranceMs: number;
  }) {
    this.monitors = parts.monitors;
    this.recent = parts.recent;
    this.changes = parts.changes;
    this.publish = parts.publish;
    this.metrics = parts.metrics;
    this.logger = parts.logger;
    this.toleranceMs = parts.toleranceMs;
  }

  /** Begins each assigned partition where the ring of its last owner began. */
  assigned(assignment: AssignmentApi): Promise<void> {
    this.recent.clear();
    this.takenOverAt.clear();
    for (const { topic, partition, offset, metadata } of assignment.committed()) {
      if (offset === undefined || metadata === '') continue;
      const parsed = commitMetadata.safeParse(jsonOrUndefined(metadata));
      if (!parsed.success) {
        this.logger.error({ topic, partition }, 'the metadata of the committed offset is unreadable: no refill');
        continue;
      }
      this.takenOverAt.set(slotOf(topic, partition), parsed.data.at);
      // Never forward: what is not committed must be read.
      const refill = BigInt(parsed.data.refill);
      assignment.seek(topic, partition, refill < offset ? refill : offset);
    }
    return Promise.resolve();
  }

  async handle(batch: ConsumedBatch): Promise<BatchOutcome> {
    const slot = slotOf(batch.topic, batch.partition);
    const { parsed, poison } = parseRecords(forumItem, batch);
    let candidates: Candidate[] = [];
    let sliceEnds = performance.now() + SLICE_MS;
    for (const { record, value: item } of parsed) {
      const entered = { offset: record.offset, enteredAtMs: record.timestampMs, item };
      this.recent.add(slot, entered);
      for (const candidate of this.candidatesOf(entered, slot, batch)) candidates.push(candidate);
      if (!batch.isRefill) this.metrics.matcherItems.inc({ kind: item.kind });
      if (candidates.length >= CANDIDATE_PORTION) {
        await this.publish(candidates);
        candidates = [];
      }
      if (performance.now() > sliceEnds) {
        await batch.heartbeat();
        sliceEnds = performance.now() + SLICE_MS;
      }
      // The partition may be somebody's anew, this process's too: the ring is not this batch's to fill any more.
      if (!batch.isCurrent()) return { poison };
    }
    if (candidates.length > 0) await this.publish(candidates);
    await this.changes.settled(batch.signal);
    return { poison, metadata: this.metadataFor(slot, batch) };
  }

  private candidatesOf(entered: EnteredItem, slot: string, batch: ConsumedBatch): Candidate[] {
    if (!batch.isRefill) return this.monitors.candidates(entered);
    // Matched by the owner before; only monitors that changed about then may have been unknown to it.
    const takenOverAt = this.takenOverAt.get(slot) ?? Number.NEGATIVE_INFINITY;
    return this.monitors.missedCandidates(entered, takenOverAt - RING_MS, this.toleranceMs);
  }

  private metadataFor(slot: string, batch: ConsumedBatch): string {
    const last = batch.records.at(-1)!;
    const refill = this.recent.oldestOffset(slot) ?? last.offset + 1n;
    return JSON.stringify({ refill: String(refill), at: last.timestampMs } satisfies z.infer<typeof commitMetadata>);
  }
}

function slotOf(topic: string, partition: number): string {
  return `${topic}|${partition}`;
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
