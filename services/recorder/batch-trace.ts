import type { Candidate } from '../../schemas/messages/candidate.ts';
import type { RecordedMatch } from '../../schemas/messages/recorded-match.ts';
import type { ConsumedRecord } from '../../shared/kafka/consumed-batch.ts';
import { traceparentOf } from '../../shared/tracing/tracing.ts';
import type { TraceSpan, Tracing } from '../../shared/tracing/tracing.ts';

/**
 * The spans of one batch: one for each sampled candidate, in its item's trace, and one for the transaction that they
 * share. That one is a part of the first candidate's trace and linked with the spans of the others, which is how
 * OpenTelemetry describes work by batches.
 */
export class BatchTrace {
  /** By monitor and thing. */
  private readonly spans = new Map<string, TraceSpan>();
  private readonly transaction: TraceSpan | undefined;

  constructor(tracing: Tracing, candidates: readonly { record: ConsumedRecord; value: Candidate }[]) {
    let first: string | undefined;
    for (const { record, value } of candidates) {
      const traceparent = traceparentOf(record.headers);
      const attributes = { 'forum.monitor_id': value.monitor_id, 'forum.thing_id': value.item.thing_id };
      const span = tracing.continue('record', traceparent, { kind: 'consumer', attributes });
      if (span === undefined) continue;
      first ??= traceparent;
      this.spans.set(keyOf(value), span);
    }
    this.transaction = tracing.continue('record batch', first, {
      kind: 'consumer',
      attributes: { 'messaging.batch.message_count': candidates.length },
      links: [...this.spans.values()].map(({ traceparent }) => traceparent),
    });
  }

  /** The span that a match of this batch continues; undefined when its candidate is not sampled. */
  spanOf(match: RecordedMatch): TraceSpan | undefined {
    return this.spans.get(keyOf(match));
  }

  end(): void {
    for (const span of this.spans.values()) span.end();
    this.transaction?.end();
  }
}

function keyOf({ monitor_id, item }: { monitor_id: string; item: { thing_id: string } }): string {
  return `${monitor_id}|${item.thing_id}`;
}
