import type { MetricFactory } from './metric-factory.ts';

/** Metrics of what monitors get beside their matches: backfills and previews of the archive, digests, events. */
export function archiveAndEventMetrics({ counter, gauge, histogram }: MetricFactory) {
  return {
    backfills: gauge(
      'backfills',
      'Backfills that have not ended, by phase: waiting for a turn, working, cancelling. Many waiting: start another recorder.',
      ['phase'],
    ),
    backfillsOldest: gauge(
      'backfills_oldest_seconds',
      'Time since the oldest backfill that has not ended was asked for. Hours: no recorder runs, or the archive, the matcher or the recorder is behind.',
      [],
    ),
    backfillsEnded: counter(
      'backfills_ended_total',
      'Backfills that ended, by state, as their owners see it. failed: the log has the error.',
      ['state'],
    ),
    backfillMatches: counter('backfill_matches_total', 'Matches that backfills recorded.', []),
    previewSeconds: histogram(
      'preview_seconds',
      'Duration of previews and comparisons of rules, by whether the answer is exact for the whole time asked for. Many slow or inexact ones: ClickHouse is too slow.',
      ['kind', 'exact'],
    ),

    digestsDue: gauge(
      'digests_due',
      'Digests whose time has come and that are not made, counted up to 5,000. For minutes: no biller runs, or Postgres is too slow.',
      [],
    ),
    digestsOldestDue: gauge('digests_oldest_due_seconds', 'How long the oldest of them has been due.', []),
    digestsMade: counter(
      'digests_made_total',
      'Digests made: events for a webhook, parts of a mail, or nothing because there was no match.',
      ['to'],
    ),
    digestMailsWaiting: gauge(
      'digest_mails_waiting',
      'Mails of digests that wait to be sent, counted up to 5,000. Growing: the mail server is away or slow.',
      [],
    ),
    monitorEvents: counter(
      'monitor_events_total',
      'Spikes and digests for webhooks, by outcome: stored, delivered, retried (an attempt failed), failed for good.',
      ['type', 'outcome'],
    ),
    monitorEventsPending: gauge(
      'monitor_events_pending',
      'Spikes and digests that wait for their first or next attempt, counted up to 5,000. Growing: endpoints fail, or no deliverer runs.',
      [],
    ),
    monitorEventsOldestPending: gauge(
      'monitor_events_oldest_pending_seconds',
      'Time since the oldest of them was stored. Hours: an endpoint fails.',
      [],
    ),
  };
}
