import { z } from 'zod';
import type { Candidate } from '../../schemas/messages/candidate.ts';
import { forumItem } from '../../schemas/messages/forum-item.ts';
import type { AssignmentApi } from '../../shared/kafka/batch-consumer-deps.ts';
import type { BatchOutcome, ConsumedBatch, PoisonRecord } from '../../shared/kafka/consumed-batch.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { CooperativeYield } from '../../shared/runtime/cooperative-yield.ts';
import { CandidatePublisher } from './candidate-publisher.ts';
import type { PublishCandidates } from './candidate-publisher.ts';
import type { ActiveMonitors } from './active-monitors.ts';
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

export interface ItemMatcherDeps {
  monitors: ActiveMonitors;
  recent: RecentItems;
  changes: Pick<MonitorChanges, 'settled'>;
  publish: PublishCandidates;
  cooperativeYield: CooperativeYield;
  metrics: Metrics;
  logger: Logger;
  /** How far clocks may differ from the broker's, in milliseconds. */
  toleranceMs: number;
}

/**
 * Items in, candidates out. Each batch, and what a crash after the step repeats:
 *   1. every item is matched and put into the ring (memory only);
 *   2. the candidates are published (again: the recorder knows each pair);
 *   3. scans for changed monitors that are under way are published;
 *   4. the offset is committed, with where a refill has to begin (by the consumer, after handle).
 */
export class ItemMatcher {
  private readonly parts: ItemMatcherDeps;
  /** By partition: the append time of the last record that the owner before had committed. */
  private readonly lastCommittedMs = new Map<string, number>();

  constructor(parts: ItemMatcherDeps) {
    this.parts = parts;
  }

  /** Begins each assigned partition where the ring of its last owner began. */
  assigned(assignment: AssignmentApi): Promise<void> {
    this.parts.recent.clear();
    this.lastCommittedMs.clear();
    for (const { topic, partition, offset, metadata } of assignment.committed()) {
      if (offset === undefined || metadata === '') continue;
      const parsed = commitMetadata.safeParse(jsonOrUndefined(metadata));
      if (!parsed.success) {
        this.parts.logger.error({ topic, partition }, 'the metadata of the committed offset is unreadable: no refill');
        continue;
      }
      this.lastCommittedMs.set(partitionKeyOf(topic, partition), parsed.data.at);
      // Never forward: what is not committed must be read.
      const refill = BigInt(parsed.data.refill);
      assignment.seek(topic, partition, refill < offset ? refill : offset);
    }
    return Promise.resolve();
  }

  async handle(batch: ConsumedBatch): Promise<BatchOutcome> {
    const { publish, cooperativeYield, changes } = this.parts;
    const partitionKey = partitionKeyOf(batch.topic, batch.partition);
    const candidatePublisher = new CandidatePublisher(publish, cooperativeYield);
    const poison: PoisonRecord[] = [];
    for (const record of batch.records) {
      const read = parseRecords(forumItem, { records: [record] });
      poison.push(...read.poison);
      for (const { value: item } of read.parsed) {
        const entered = { offset: record.offset, enteredAtMs: record.timestampMs, item };
        await candidatePublisher.add(this.processItem(entered, partitionKey, batch.isRefill));
      }
      await cooperativeYield.pause();
      // The partition may be somebody's anew, this process's too: the ring is not this batch's to fill any more.
      if (!batch.isCurrent()) return { poison };
    }
    await candidatePublisher.flush();
    await changes.settled(batch.signal);
    return { poison, metadata: this.metadataFor(partitionKey, batch) };
  }

  /** Matches an item and puts it into the ring, in one go: whatever rule comes later finds it there. */
  private processItem(entered: EnteredItem, partitionKey: string, isRefill: boolean): Candidate[] {
    const { monitors, recent, metrics, toleranceMs } = this.parts;
    recent.add(partitionKey, entered);
    if (!isRefill) {
      metrics.matcherItems.inc({ kind: entered.item.kind });
      return monitors.candidates(entered);
    }
    // Matched by the owner before; only monitors that changed about then may have been unknown to it.
    const lastCommittedMs = this.lastCommittedMs.get(partitionKey) ?? Number.NEGATIVE_INFINITY;
    return monitors.missedCandidates(entered, lastCommittedMs - RING_MS, toleranceMs);
  }

  private metadataFor(partitionKey: string, batch: ConsumedBatch): string {
    const last = batch.records.at(-1)!;
    const refill = this.parts.recent.oldestOffset(partitionKey) ?? last.offset + 1n;
    return JSON.stringify({ refill: String(refill), at: last.timestampMs } satisfies z.infer<typeof commitMetadata>);
  }
}

function partitionKeyOf(topic: string, partition: number): string {
  return `${topic}|${partition}`;
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
