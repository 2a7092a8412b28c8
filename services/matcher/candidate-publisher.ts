import type { Candidate } from '../../schemas/messages/candidate.ts';
import type { OutgoingRecord } from '../../shared/kafka/publisher.ts';
import type { CooperativeYield } from '../../shared/runtime/cooperative-yield.ts';

/**
 * A word that everybody watches must not fill the memory, and a portion is sent in one go: no more than takes a few
 * milliseconds.
 */
const MAX_RECORDS = 500;
const MAX_CODE_UNITS = 256 * 1024;

export type PublishCandidates = (records: readonly OutgoingRecord[]) => Promise<void>;

/** Candidates on their way to Kafka, published portion by portion. */
export class CandidatePublisher {
  private readonly publish: PublishCandidates;
  private readonly cooperativeYield: CooperativeYield;
  private records: OutgoingRecord[] = [];
  private codeUnits = 0;

  constructor(publish: PublishCandidates, cooperativeYield: CooperativeYield) {
    this.publish = publish;
    this.cooperativeYield = cooperativeYield;
  }

  async add(candidates: readonly Candidate[]): Promise<void> {
    for (const candidate of candidates) {
      const value = JSON.stringify(candidate);
      this.records.push({ key: candidate.monitor_id, value });
      this.codeUnits += value.length;
      if (this.records.length === MAX_RECORDS || this.codeUnits >= MAX_CODE_UNITS) await this.flush();
      await this.cooperativeYield.pause();
    }
  }

  /** Publishes what is left. */
  async flush(): Promise<void> {
    const { records } = this;
    this.records = [];
    this.codeUnits = 0;
    if (records.length > 0) await this.publish(records);
  }
}
