import { Registry, collectDefaultMetrics, Counter, Gauge, Histogram } from 'prom-client';

/** Every metric, with its meaning and what to do about it. Labels have few values: patterns, names, no ids. */
function declare(registers: Registry[]) {
  const factory = metricFactory(registers);
  const { counter, gauge, histogram } = factory;

  return {
    upstreamRequests: counter(
      'upstream_requests_total',
      'Calls to the forum by outcome. Many refused or broken: the forum blocks the service or changed its format.',
      ['endpoint', 'outcome'],
    ),
    upstreamSeconds: histogram('upstream_request_seconds', 'Duration of calls to the forum.', ['endpoint']),
    upstreamLaneCalls: counter(
      'upstream_lane_calls_total',
      "Calls that used the forum's budget or were refused by it, by lane. Refused live calls: add a client.",
      ['lane', 'outcome'],
    ),
    upstreamBudget: gauge(
      'upstream_budget_remaining',
      'Calls left in the current window, by client number. Near zero: add a client.',
      ['client'],
    ),

    crawlerItems: counter('crawler_items_total', 'Items published to Kafka.', ['source', 'kind']),
    crawlerDuplicates: counter('crawler_duplicates_total', 'Items seen again and not published.', ['source']),
    crawlerAbsent: counter('crawler_absent_ids_total', 'Ids that did not appear within an hour.', ['source']),
    crawlerOverflows: counter(
      'crawler_overflows_total',
      'Listing pages with only new items. Repeated: the source is too slow for the forum.',
      ['source'],
    ),
    crawlerGaps: counter(
      'crawler_gaps_total',
      'Ranges that a source may have missed; the table crawl_gaps lists them. Repeated: the source is too slow for the forum.',
      ['source'],
    ),
    crawlerGapsOpen: gauge(
      'crawler_gaps_open',
      'Open gaps, by source. Growing: the budget is too small to fill them. Run: npm run admin -- gaps --open.',
      ['source'],
    ),
    crawlerMissed: gauge(
      'crawler_missed_items',
      'Items of the last 24 hours that were not seen: posts by their ids, comments as estimated by the audit. See /v1/coverage.',
      ['kind'],
    ),
    crawlerCompleteness: gauge(
      'crawler_completeness',
      'Share of posts or comments seen, for the newest hour that has one; for comments with a 95 % interval (low, high). Falling: see /v1/coverage.',
      ['kind', 'bound'],
    ),
    crawlerNewestItemAge: gauge(
      'crawler_newest_item_age_seconds',
      'Time since the newest archived item was first seen, without dump files. Minutes: the crawler or the archiver is not working.',
      ['stage'],
    ),
    crawlerHeadAlarms: counter(
      'crawler_head_alarms_total',
      'Implausibly high post ids that were ignored (rejected), and returns from a range without posts (went_back). See the log.',
      ['what'],
    ),
    crawlerDegraded: gauge(
      'crawler_degraded',
      '1 while the call budget is too small for this part of the crawl: add a client.',
      ['part'],
    ),
    crawlerFollowedPosts: gauge(
      'crawler_followed_posts',
      'Posts whose threads are checked for comments that no listing showed, at most 500,000, about 200 bytes each.',
    ),
    crawlerThreadBacklog: gauge(
      'crawler_thread_backlog',
      'Threads with comments that no listing showed, waiting to be read. Growing: the budget is too small.',
    ),
    crawlerRecheckShare: gauge(
      'crawler_recheck_share',
      'Share of unmatched items that are checked again, by their age in hours (1, 24). Below 1: the budget is too small.',
      ['age'],
    ),
    crawlerRechecked: counter(
      'crawler_rechecked_total',
      'Items checked again, by outcome: kept, removed, absent (no tombstone).',
      ['outcome'],
    ),
    crawlerRemovals: counter(
      'crawler_tombstones_total',
      'Items that the forum removed and whose text is deleted everywhere (records of forum.removals).',
    ),
    crawlerIncomplete: counter(
      'crawler_incomplete_comments_total',
      'Comments published without their post (empty title).',
    ),
    crawlerUndetected: counter(
      'crawler_undetected_languages_total',
      'Items published with the language und because its detection failed, which is a bug: the log has the error.',
    ),
    crawlerMalformed: counter(
      'crawler_unreadable_things_total',
      'Malformed items of the forum: kept as a dead letter, already known, or beyond the limit of letters a minute.',
      ['source', 'outcome'],
    ),
    readingMalformed: counter(
      'reading_unreadable_things_total',
      'Malformed items of the forum that were omitted from responses of the reading routes.',
      ['endpoint'],
    ),
    crawlerUnknownKinds: counter('crawler_unknown_kinds_total', 'Items of an unknown kind, skipped.', ['source']),
    crawlerLag: histogram('crawler_lag_seconds', 'From creation on the forum to publication.', ['source']),

    engineUnavailable: gauge(
      'engine_away',
      '1 while this work waits for an engine that is unavailable, slow or full. For minutes: check that engine.',
      ['engine', 'work'],
    ),
    engineRetries: counter('engine_retries_total', 'Attempts that failed because an engine was unavailable.', [
      'engine',
      'work',
    ]),

    kafkaPublished: counter('kafka_published_records_total', 'Records acknowledged by the broker.', ['topic']),
    kafkaConsumed: counter('kafka_consumed_records_total', 'Records whose effect is complete.', ['topic', 'group']),
    kafkaLag: gauge(
      'kafka_consumer_lag_records',
      'Records between the committed offset and the head. Growing: the stage is too slow or has stopped.',
      ['topic', 'group'],
    ),
    kafkaOldestAge: gauge(
      'kafka_batch_age_seconds',
      'Age of the first record of the last batch when its handling started.',
      ['topic', 'group'],
    ),
    kafkaDeadLetters: counter(
      'kafka_dead_letters_total',
      'Records set aside as unreadable. Run: npm run admin -- dead-letters list.',
      ['topic', 'group'],
    ),
    kafkaConsumerHalted: gauge(
      'kafka_consumer_halted',
      '1 while a group is halted by too many unreadable records. See GroupHalted in the runbook.',
      ['group'],
    ),
    kafkaLostRecords: gauge(
      'kafka_lost_records',
      'Records that expired before the group read them, as noticed in the last 24 hours. Lengthen the retention.',
      ['topic', 'group'],
    ),

    matcherItems: counter('matcher_items_total', 'Items matched against all monitors.', ['kind']),
    matcherCandidates: counter('matcher_candidates_total', 'Candidates published.'),
    matcherMonitors: gauge('matcher_monitors', 'Active monitors in memory.'),
    matcherPaused: gauge('matcher_paused', '1 while the matcher pauses because it might miss changes of monitors.'),
    matcherRecentItems: gauge('matcher_ring_items', 'Recent items in memory for new and changed monitors.'),
    matcherRecentItemBytes: gauge('matcher_ring_bytes', 'Estimated size of the recent items in memory.'),
    matcherRecentItemsEvicted: counter(
      'matcher_ring_cut_short_total',
      'Items dropped before their 30 s because too many arrived. Above 0: something publishes much faster than the forum.',
    ),

    recorderCandidates: counter('recorder_candidates_total', 'Candidates by outcome.', ['outcome']),
    recorderBatchSeconds: histogram('recorder_batch_seconds', 'Duration of one batch: transaction and publishing.'),

    archiverRows: counter('archiver_rows_total', 'Rows acknowledged by ClickHouse.', ['table']),
    archiverFlushSeconds: histogram('archiver_flush_seconds', 'Duration of one insert.', ['table']),

    deliveryAttempts: counter('delivery_attempts_total', 'Webhook attempts by outcome.', ['kind', 'outcome']),
    deliverySeconds: histogram('delivery_attempt_seconds', 'Duration of one webhook attempt.', ['outcome']),
    deliveryLocalFaults: counter(
      'delivery_local_faults_total',
      'Webhook attempts that a fault on our side prevented; their matches were released. Check the network, the name servers, the egress proxy and open files.',
      ['code'],
    ),
    deliveriesPaused: gauge('deliveries_paused', '1 while a fault on our side prevents all webhooks. See the log.'),
    deliveriesPending: gauge(
      'deliveries_pending',
      'Webhook deliveries that wait for their first or next attempt, counted up to 50,000. Growing: endpoints fail, or no deliverer runs.',
    ),
    deliveriesOldestPending: gauge(
      'deliveries_oldest_pending_seconds',
      'Time since the oldest pending delivery was matched. Hours: an endpoint fails. See admin deliveries pending.',
    ),
    clockSkew: gauge(
      'clock_skew_seconds',
      "How far the clock of a broker is ahead of PostgreSQL's, at least; negative: behind. Beyond 0.5: see the runbook.",
    ),
    postgresOldestSnapshot: gauge(
      'postgres_oldest_snapshot_seconds',
      'How long the oldest snapshot of PostgreSQL has been open. Long: old rows cannot be removed, and requests and deliveries slow down. See the runbook.',
    ),
    monitors: gauge('monitors', 'Monitors by state; paused_balance: their accounts ran out of credits.', ['status']),
    monitorsFailing: gauge(
      'monitors_webhook_failing',
      'Monitors whose webhook is failing. Run: npm run admin -- monitor list --failing.',
    ),
    creditsCharged: counter('credits_charged_total', "Credits charged, by the ledger's kind, a minute later.", [
      'kind',
    ]),
    creditsGranted: counter('credits_granted_total', "Credits given, by the ledger's kind, a minute later.", ['kind']),

    diskFree: gauge('disk_free_bytes', 'Free space of the data directory and of each embedded engine.', ['disk']),
    diskSize: gauge('disk_size_bytes', 'Size of the disk of the data directory and of each embedded engine.', ['disk']),
    crawlerPaused: gauge('crawler_paused', '1 while crawling pauses because a disk is almost full. Free space.'),

    deliveriesInFlight: gauge('deliveries_in_flight', 'Webhook attempts in progress.'),
    deliveryLatency: histogram(
      'delivery_latency_seconds',
      'From the given moment (created: on the forum; seen: by the crawler; entered: in Kafka) to delivery by a first attempt.',
      ['since'],
    ),

    renewals: counter('renewals_total', 'Due renewals by outcome.', ['outcome']),
    renewalLag: gauge(
      'renewals_lag_seconds',
      'How long the oldest due renewal has been due. Minutes: no biller runs, or Postgres is too slow.',
    ),
    ledgerMismatches: gauge(
      'ledger_mismatches',
      'Accounts whose balance differs from their ledger, by the last check. Above 0: see the log and the runbook.',
    ),
    synchronousStandbys: gauge(
      'postgres_synchronous_standbys',
      'Connected standbys of synchronous_standby_names. Below 2: the next that fails stops every commit. See the runbook.',
    ),
    paymentEvents: counter(
      'payment_events_total',
      'Signed events of the payment provider by outcome. unknown, mismatched, unclaimed: the log names the payment.',
      ['type', 'outcome'],
    ),
    paymentsRefused: counter(
      'payment_events_refused_total',
      "Deliveries to /stripe/webhook without a valid signature. Many: STRIPE_WEBHOOK_SECRET is another endpoint's.",
    ),
    paymentsHealed: counter(
      'payments_healed_total',
      'Events and payments that the reconciliation applied because their webhook was lost. Above 0: check the endpoint.',
    ),
    paymentsVoided: counter(
      'payments_voided_total',
      'Trial purchases that were taken back because real payments began.',
    ),
    erasuresOpen: gauge(
      'account_erasures_open',
      'Deleted accounts whose data is still being removed. For hours: an archiver or ClickHouse is unavailable.',
    ),
    notices: counter(
      'notices_total',
      'Mails of notices, digests and matches by outcome: sent, failed (retried), bounced, expired, unwanted. Many failed: check SMTP_URL.',
      ['kind', 'outcome'],
    ),
    noticesWaiting: gauge(
      'notices_waiting',
      'Notices that wait to be mailed, counted up to 1,000. Growing: the mail server is unavailable or slow.',
    ),
    ...archiveAndEventMetrics(factory),
    ...loadMetrics(factory),

    swept: counter('retention_deleted_rows_total', 'Rows deleted because their retention ended.', ['table']),

    liveTails: gauge('live_tails_open', 'Open streams of matches.'),
    liveTailEvents: counter('live_tail_events_total', 'Matches sent to streams.'),

    httpRequests: counter('http_requests_total', 'Requests by route pattern.', ['method', 'route', 'status']),
    httpSeconds: histogram('http_request_seconds', 'Duration of requests by route pattern.', ['method', 'route']),
  };
}

export type Metrics = ReturnType<typeof declare> & { registry: Registry };

/** A new set of all metrics; with Node's own metrics when `withProcess` is true, which one set per process may have. */
export function createMetrics(withProcess = false): Metrics {
  const registry = new Registry();
  if (withProcess) collectDefaultMetrics({ register: registry });
  const metrics = { ...declare([registry]), registry };
  // No value until a biller reports one: the alert NoReport asks whether any process does.
  metrics.deliveriesPending.remove();
  return metrics;
}

/** Metrics of what monitors get beside their matches: backfills and previews of the archive, digests, events. */
function archiveAndEventMetrics({ counter, gauge, histogram }: MetricFactory) {
  return {
    backfills: gauge(
      'backfills',
      'Backfills that have not ended, by phase: waiting, working, cancelling. Many waiting: start another recorder.',
      ['phase'],
    ),
    backfillsOldest: gauge(
      'backfills_oldest_seconds',
      'Time since the oldest unfinished backfill was requested. Hours: no recorder runs, or the archive, the matcher or the recorder is behind.',
    ),
    backfillsEnded: counter(
      'backfills_ended_total',
      'Backfills that ended, by state, as their owners see it. failed: the log has the error.',
      ['state'],
    ),
    backfillMatches: counter('backfill_matches_total', 'Matches that backfills recorded.'),
    previewSeconds: histogram(
      'preview_seconds',
      'Duration of previews and comparisons of rules, by whether the result is exact for the whole requested time. Many slow or inexact ones: ClickHouse is too slow.',
      ['kind', 'exact'],
    ),

    digestsDue: gauge(
      'digests_due',
      'Due digests that have not been created, counted up to 5,000. For minutes: no biller runs, or Postgres is too slow.',
    ),
    digestsOldestDue: gauge('digests_oldest_due_seconds', 'How long the oldest of them has been due.'),
    digestsMade: counter(
      'digests_made_total',
      'Digests created: events for a webhook, parts of a mail, or nothing because there was no match.',
      ['to'],
    ),
    digestMailsWaiting: gauge(
      'digest_mails_waiting',
      'Mails of digests and of new matches that wait to be sent, counted up to 5,000. Growing: the mail server is unavailable or slow.',
    ),
    monitorEvents: counter(
      'monitor_events_total',
      'Spikes and digests for webhooks, by outcome: stored, delivered, retried (an attempt failed), failed permanently.',
      ['type', 'outcome'],
    ),
    monitorEventsPending: gauge(
      'monitor_events_pending',
      'Spikes and digests that wait for their first or next attempt, counted up to 5,000. Growing: endpoints fail, or no deliverer runs.',
    ),
    monitorEventsOldestPending: gauge(
      'monitor_events_oldest_pending_seconds',
      'Time since the oldest of them was stored. Hours: an endpoint fails.',
    ),
  };
}

/** Metrics of how busy a process is: its batches, its jobs, its connections, its open requests. */
function loadMetrics({ gauge, histogram }: MetricFactory) {
  return {
    kafkaBatchSeconds: histogram(
      'kafka_batch_seconds',
      'Duration of one batch of a consumer group: its effect and the commit of its offset. Slow: check the engine that it writes to.',
      ['topic', 'group'],
      [0.005, 0.025, 0.1, 0.25, 1, 5, 30],
    ),
    jobSeconds: histogram(
      'background_round_seconds',
      'Duration of a finished run of a background job. Unusually long: Postgres is too slow.',
      ['work'],
      [0.1, 1, 10, 60],
    ),
    postgresConnections: gauge(
      'postgres_pool_connections',
      'Connections of a pool by state: busy, idle, free (not opened). None free and queries queued: look for slow statements.',
      ['pool', 'state'],
    ),
    postgresQueue: gauge('postgres_pool_queue', 'Queries that wait for a connection of a pool.', ['pool']),
    cacheBytes: gauge(
      'cache_bytes',
      'Bytes of a cache of the reading routes in memory. Each fills up to its limit over hours, which is no leak.',
      ['cache'],
    ),
    httpOpen: gauge('http_requests_open', 'Requests without a complete response yet; streams count.'),
    deliveriesOverdue: gauge(
      'deliveries_overdue_seconds',
      'How long the oldest due delivery has been due. For minutes: no deliverer runs, or an endpoint hangs and its deliveries queue. Run: npm run admin -- deliveries pending.',
    ),
  };
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

type MetricFactory = ReturnType<typeof metricFactory>;

function metricFactory(registers: Registry[]) {
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string = never>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
      buckets = SECONDS,
    ) => new Histogram({ name, help, labelNames, buckets, registers }),
  };
}
