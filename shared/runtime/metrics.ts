import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Every metric of the service: declared once, with its meaning and what to do about it. Labels have few values: route
 * patterns, never paths; source names, never ids.
 */
function declare(registers: Registry[]) {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets = SECONDS) =>
    new Histogram<L>({ name, help, labelNames, buckets, registers });

  return {
    upstreamRequests: counter(
      'upstream_requests_total',
      'Calls to the forum by outcome. Many refused or broken: the forum blocks us or changed a shape.',
      ['endpoint', 'outcome'],
    ),
    upstreamSeconds: histogram('upstream_request_seconds', 'Duration of calls to the forum.', ['endpoint']),
    upstreamLaneCalls: counter(
      'upstream_lane_calls_total',
      'Calls taken from the budget of the forum, or refused by it, by lane. Refused live calls: add a client.',
      ['lane', 'outcome'],
    ),
    upstreamBudget: gauge(
      'upstream_budget_remaining',
      'Calls left in the current window, by client number. Near zero: add a client.',
      ['client'],
    ),

    crawlerItems: counter('crawler_items_total', 'Items published to Kafka.', ['source', 'kind']),
    crawlerDuplicates: counter('crawler_duplicates_total', 'Items seen again and not published.', ['source']),
    crawlerAbsent: counter('crawler_absent_ids_total', 'Ids that never appeared within an hour.', ['source']),
    crawlerOverflows: counter(
      'crawler_overflows_total',
      'Listing pages that held only new items. Repeated: the source is too slow for the forum.',
      ['source'],
    ),
    crawlerGaps: counter(
      'crawler_gaps_total',
      'Stretches that a source may have missed; crawl_gaps says which. Repeated: the source is too slow for the forum.',
      ['source'],
    ),
    crawlerHeadAlarms: counter(
      'crawler_head_alarms_total',
      'Far-off post ids that were not followed (rejected), and returns from where no posts are (went_back). Look at the log.',
      ['what'],
    ),
    crawlerIncomplete: counter(
      'crawler_incomplete_comments_total',
      'Comments published without their post (empty title).',
      [],
    ),
    crawlerUnknownKinds: counter('crawler_unknown_kinds_total', 'Things of an unknown kind, skipped.', ['source']),
    crawlerLag: histogram('crawler_lag_seconds', 'From creation on the forum to publication.', ['source']),

    engineAway: gauge(
      'engine_away',
      '1 while this work waits for an engine that is away, slow or full. For minutes: look at that engine.',
      ['engine', 'work'],
    ),
    engineRetries: counter('engine_retries_total', 'Tries that an engine which is away made fail.', ['engine', 'work']),

    kafkaPublished: counter('kafka_published_records_total', 'Records acknowledged by the broker.', ['topic']),
    kafkaConsumed: counter('kafka_consumed_records_total', 'Records whose effect is done.', ['topic', 'group']),
    kafkaLag: gauge(
      'kafka_consumer_lag_records',
      'Records between the committed offset and the head. Growing: the stage is too slow or stopped.',
      ['topic', 'group'],
    ),
    kafkaOldestAge: gauge(
      'kafka_batch_age_seconds',
      'Age of the first record of the last batch when it was taken up.',
      ['topic', 'group'],
    ),
    kafkaDeadLetters: counter(
      'kafka_dead_letters_total',
      'Messages set aside as unreadable. Look into the dead-letter topic.',
      ['topic', 'group'],
    ),
    kafkaOffsetResets: counter(
      'kafka_offset_resets_total',
      'Committed offsets that were out of range. Each one means records expired unread.',
      ['topic', 'group'],
    ),

    matcherItems: counter('matcher_items_total', 'Items matched against all monitors.', ['kind']),
    matcherCandidates: counter('matcher_candidates_total', 'Candidates published.', []),
    matcherMonitors: gauge('matcher_monitors', 'Active monitors in memory.', []),
    matcherPaused: gauge(
      'matcher_paused',
      '1 while consumption waits because changes of monitors might be missed.',
      [],
    ),
    matcherRingItems: gauge('matcher_ring_items', 'Recent items kept for new and changed monitors.', []),
    matcherRingBytes: gauge('matcher_ring_bytes', 'Estimated bytes of these items.', []),
    matcherRingCutShort: counter(
      'matcher_ring_cut_short_total',
      'Items given up before their 30 s because the ring was full. Above 0: something publishes much faster than the forum.',
      [],
    ),

    recorderCandidates: counter('recorder_candidates_total', 'Candidates by what became of them.', ['outcome']),
    recorderBatchSeconds: histogram('recorder_batch_seconds', 'Duration of one batch: transaction and publishing.', []),

    archiverRows: counter('archiver_rows_total', 'Rows acknowledged by ClickHouse.', ['table']),
    archiverFlushSeconds: histogram('archiver_flush_seconds', 'Duration of one insert.', ['table']),

    deliveryAttempts: counter('delivery_attempts_total', 'Webhook attempts by outcome.', ['kind', 'outcome']),
    deliverySeconds: histogram('delivery_attempt_seconds', 'Duration of one webhook attempt.', ['outcome']),
    deliveryLocalFaults: counter(
      'delivery_local_faults_total',
      'Webhook attempts that could not be sent for a reason of this side; their matches were given back. Look at network, name servers, egress proxy and open files.',
      ['code'],
    ),
    deliveriesPaused: gauge(
      'deliveries_paused',
      '1 while webhooks as a whole cannot be sent for a reason of this side. The log names it.',
      [],
    ),
    deliveriesInFlight: gauge('deliveries_in_flight', 'Webhook attempts under way.', []),
    deliveryLatency: histogram(
      'delivery_latency_seconds',
      'From the given moment (created: on the forum; seen: by the crawler; entered: in Kafka) to the delivery of a first attempt.',
      ['since'],
    ),

    renewals: counter('renewals_total', 'Due monitors by what became of them.', ['outcome']),
    renewalLag: gauge(
      'renewals_lag_seconds',
      'For how long the oldest due monitor has been due. Minutes: no biller runs, or Postgres is too slow.',
      [],
    ),
    ledgerMismatches: gauge(
      'ledger_mismatches',
      'Accounts whose balance is not what their ledger says, by the last check. Above 0: the log names them; stop and look.',
      [],
    ),
    erasuresOpen: gauge(
      'account_erasures_open',
      'Deleted accounts whose data is still being removed. For hours: an archiver or ClickHouse is away.',
      [],
    ),
    swept: counter('retention_deleted_rows_total', 'Rows deleted because their retention ended.', ['table']),

    liveTails: gauge('live_tails_open', 'Open streams of matches.', []),
    liveTailEvents: counter('live_tail_events_total', 'Matches sent to streams.', []),

    httpRequests: counter('http_requests_total', 'Requests by route pattern.', ['method', 'route', 'status']),
    httpSeconds: histogram('http_request_seconds', 'Duration of requests by route pattern.', ['method', 'route']),
  };
}

export type Metrics = ReturnType<typeof declare> & { registry: Registry };

/** A fresh set of all metrics, with Node's own when `withProcess` is true (one per process). */
export function createMetrics(withProcess = false): Metrics {
  const registry = new Registry();
  if (withProcess) collectDefaultMetrics({ register: registry });
  return { ...declare([registry]), registry };
}
