import type { Candidate } from '../../schemas/messages/candidate.ts';
import type { OutgoingRecord } from '../../shared/kafka/publisher.ts';
import { traceHeaders } from '../../shared/runtime/tracing.ts';
import type { TraceSpan } from '../../shared/runtime/tracing.ts';
import type { CooperativeYield } from '../../shared/runtime/clock.ts';

/** Bounds of a request. Serialising one blocks the event loop, so it must take only a few milliseconds. */
const MAX_RECORDS = 500;
const MAX_CODE_UNITS = 256 * 1024;

export type PublishCandidates = (records: readonly OutgoingRecord[]) => Promise<void>;

/**
 * Serialises candidates and publishes them to monitor.candidates in requests of at most 500 records or about 256 KB.
 *
 * Before: `ItemMatcher` or a scan of `MonitorChanges` produces candidates. After: the recorder consumes them. A crash
 * loses the buffered candidates, but the offset of their items is not committed yet, so they are produced again.
 */
export class CandidatePublisher {
  private readonly publish: PublishCandidates;
  private readonly cooperativeYield: CooperativeYield;
  private records: OutgoingRecord[] = [];
  private codeUnits = 0;

  constructor(publish: PublishCandidates, cooperativeYield: CooperativeYield) {
    this.publish = publish;
    this.cooperativeYield = cooperativeYield;
  }

  /** Publishes full requests at once and buffers the remainder; call `flush` at the end. `span`: of their item. */
  async add(candidates: readonly Candidate[], span?: TraceSpan): Promise<void> {
    for (const candidate of candidates) {
      const value = JSON.stringify(candidate);
      this.records.push({ key: candidate.monitor_id, value, ...traceHeaders(span) });
      this.codeUnits += value.length;
      if (this.records.length === MAX_RECORDS || this.codeUnits >= MAX_CODE_UNITS) await this.flush();
      await this.cooperativeYield.pause();
    }
  }

  async flush(): Promise<void> {
    const { records } = this;
    this.records = [];
    this.codeUnits = 0;
    if (records.length > 0) await this.publish(records);
  }
}
