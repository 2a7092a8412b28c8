import type { z } from 'zod';
import { forumItem } from '../../schemas/messages/forum-item.ts';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import { parseMatcherCommit } from '../../schemas/messages/monitor-match.ts';
import type { Candidate, matcherCommit } from '../../schemas/messages/monitor-match.ts';
import type { AssignmentApi } from '../../shared/kafka/batch-runner.ts';
import { parseRecord } from '../../shared/kafka/consumed-batch.ts';
import type { BatchOutcome, ConsumedBatch, ConsumedRecord, PoisonRecord } from '../../shared/kafka/consumed-batch.ts';
import type { CooperativeYield } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { traceparentOf } from '../../shared/runtime/tracing.ts';
import type { TraceSpan, Tracing } from '../../shared/runtime/tracing.ts';
import { CandidatePublisher } from './active-monitors.ts';
import type { ActiveMonitors, PublishCandidates } from './active-monitors.ts';
import type { MonitorChanges } from './monitor-changes.ts';
import { RECENT_MS } from './recent-items.ts';
import type { RecentItems } from './recent-items.ts';

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
  tracing?: Tracing | undefined;
}

/**
 * Matches batches of forum.posts and forum.comments against all active monitors and publishes candidates.
 *
 * Before: the crawler published the items. After: the recorder consumes monitor.candidates and decides which candidates
 * become matches. Steps for each batch:
 *   1. Match every item and add it to the recent items. Memory only: a crash repeats the batch.
 *   2. Publish the candidates. A crash after it publishes them again; the recorder stores each (monitor, item) once.
 *   3. Wait until pending monitor changes are applied and their scans of the recent items are published. A crash
 *      repeats the scans with the batch.
 *   4. The consumer commits the offset, with the refill offset as metadata.
 */
export class ItemMatcher {
  private readonly deps: ItemMatcherDeps;
  /** By partition: append time of the last record that the previous owner committed. */
  private readonly lastCommittedMs = new Map<string, number>();

  constructor(deps: ItemMatcherDeps) {
    this.deps = deps;
  }

  /** Seeks each assigned partition to the offset at which the previous owner's recent items began. */
  assigned(assignment: AssignmentApi): Promise<void> {
    this.deps.recent.clear();
    this.lastCommittedMs.clear();
    for (const { topic, partition, offset, metadata } of assignment.committed()) {
      if (offset === undefined || metadata === '') continue;
      const commit = parseMatcherCommit(metadata);
      if (commit === undefined) {
        this.deps.logger.error(
          { topic, partition },
          'the metadata of the committed offset is malformed; the recent items are not read again',
        );
        continue;
      }
      this.lastCommittedMs.set(partitionKeyOf(topic, partition), commit.at);
      // Never seek past the committed offset: the records after it are not processed yet.
      const refill = BigInt(commit.refill);
      assignment.seek(topic, partition, refill < offset ? refill : offset);
    }
    return Promise.resolve();
  }

  async handle(batch: ConsumedBatch): Promise<BatchOutcome> {
    const spans: TraceSpan[] = [];
    try {
      return await this.match(batch, spans);
    } finally {
      for (const span of spans) span.end();
    }
  }

  /** @param spans receives those of the items, which end with the batch: then their candidates are published */
  private async match(batch: ConsumedBatch, spans: TraceSpan[]): Promise<BatchOutcome> {
    const { publish, cooperativeYield, changes } = this.deps;
    const partitionKey = partitionKeyOf(batch.topic, batch.partition);
    const candidatePublisher = new CandidatePublisher(publish, cooperativeYield);
    const poison: PoisonRecord[] = [];
    for (const record of batch.records) {
      const read = parseRecord(forumItem, record);
      if ('value' in read) {
        const candidates = this.processItem(record, read.value, partitionKey, batch.isRefill);
        const span = this.traceItem(read.value, record, candidates.length);
        if (span) spans.push(span);
        await candidatePublisher.add(candidates, span);
      } else {
        poison.push(read);
      }
      await cooperativeYield.pause();
      // The partition was reassigned, perhaps to this process again: this batch must not add recent items any more.
      if (!batch.isCurrent()) return { poison };
    }
    await candidatePublisher.flush();
    await changes.settled(batch.signal);
    return { poison, metadata: this.metadataFor(partitionKey, batch) };
  }

  private traceItem(item: ForumItem, record: ConsumedRecord, candidates: number): TraceSpan | undefined {
    return this.deps.tracing?.continue('match', traceparentOf(record.headers), {
      kind: 'consumer',
      attributes: { 'forum.thing_id': item.thing_id, 'forum.candidates': candidates },
    });
  }

  /**
   * No await between matching an item and adding it to the recent ones: a rule that arrives later finds the item there.
   */
  private processItem(
    { offset, timestampMs: enteredAtMs, value: message }: ConsumedRecord,
    item: ForumItem,
    partitionKey: string,
    isRefill: boolean,
  ): Candidate[] {
    const { monitors, recent, metrics, toleranceMs } = this.deps;
    recent.add(partitionKey, { offset, enteredAtMs, message });
    const entered = { offset, enteredAtMs, item };
    if (!isRefill) {
      metrics.matcherItems.inc({ kind: item.kind });
      return monitors.candidates(entered);
    }
    // The previous owner matched this item. It can only have missed monitors that changed shortly before its last
    // commit.
    const lastCommittedMs = this.lastCommittedMs.get(partitionKey) ?? Number.NEGATIVE_INFINITY;
    return monitors.missedCandidates(entered, lastCommittedMs - RECENT_MS, toleranceMs);
  }

  private metadataFor(partitionKey: string, batch: ConsumedBatch): string {
    const last = batch.records.at(-1)!;
    const refill = this.deps.recent.oldestOffset(partitionKey) ?? last.offset + 1n;
    return JSON.stringify({ refill: String(refill), at: last.timestampMs } satisfies z.infer<typeof matcherCommit>);
  }
}

function partitionKeyOf(topic: string, partition: number): string {
  return `${topic}|${partition}`;
}
