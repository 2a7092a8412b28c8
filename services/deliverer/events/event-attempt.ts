import type { Digest } from '../../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { matchResource } from '../../../shared/domain/match-resource.ts';
import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { decideOutcome } from '../../../shared/domain/webhooks/delivery-outcome.ts';
import { buildEventMessage } from '../../../shared/domain/webhooks/event-message.ts';
import type { EventContent } from '../../../shared/domain/webhooks/event-message.ts';
import type { EgressClient } from '../../../shared/http/egress-client.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { readDigestMatches } from '../../../shared/stores/digests/due-digests.ts';
import type {
  ClaimedEvent,
  StoredDigest,
  FinishedEventAttempt,
} from '../../../shared/stores/events/event-deliveries.ts';
import { callReceiver } from '../call-receiver.ts';
import type { AttemptResult } from '../delivery-dispatcher.ts';

export interface EventAttemptDeps {
  egress: EgressClient;
  secretBox: Pick<SecretBox, 'open'>;
  /** Reads what the event says now. */
  contentOf: (event: ClaimedEvent) => Promise<EventContent>;
  /** Stores the outcome; undefined when the lease has ended and another process has claimed the event. */
  record: (attempt: FinishedEventAttempt) => Promise<number | undefined>;
  release: (event: ClaimedEvent) => Promise<void>;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** Monotonic clock, milliseconds. */
  monotonic: () => number;
  /** 0 ≤ random < 1. */
  random: () => number;
  deadlineMs: number;
  leaseMs: number;
}

/** Remaining lease that a request needs to start, as of matches. */
const LEASE_NEEDED_MS = 10_000;

/**
 * Makes one attempt to deliver a claimed event, by the same rules as an attempt to deliver a match: claimed with a
 * lease, sent through the egress client, decided by the same ladder, stored in one transaction. After a crash the event
 * is sent again with the same id when the lease has ended.
 *
 * @param claimedAt monotonic time just before the claim was sent
 */
export async function attemptEvent(
  event: ClaimedEvent,
  claimedAt: number,
  options: EventAttemptDeps,
): Promise<AttemptResult> {
  const { metrics, monotonic } = options;
  const content = await options.contentOf(event);
  const started = monotonic();
  if (started > claimedAt + options.leaseMs - LEASE_NEEDED_MS) {
    await options.release(event);
    return { kind: 'not started' };
  }
  metrics.deliveriesInFlight.inc();
  try {
    const result = await callReceiver(event, () => messageOf(event, content, options), options);
    if (result.error === 'local') {
      metrics.deliveryLocalFaults.inc({ code: result.code });
      await options.release(event);
      return { kind: 'local fault', code: result.code };
    }
    const durationMs = Math.round(monotonic() - started);
    const outcome = decideOutcome(result, event.attempt, options.random());
    const { monitorId, seq, leaseToken, webhookUrl } = event;
    const attempted = { monitorId, seq, leaseToken, webhookUrl, httpStatus: result.status };
    const attempt = await options.record({ ...attempted, ...outcome });
    metrics.deliveryAttempts.inc({ kind: event.webhookKind, outcome: outcome.error ?? outcome.deliveryStatus });
    const { deliveryStatus } = outcome;
    metrics.monitorEvents.inc({ type: event.kind, outcome: deliveryStatus === 'pending' ? 'retried' : deliveryStatus });
    log(event, { attempt, status: result.status, duration_ms: durationMs, ...outcome }, options.logger);
    if (result.error !== null) return { kind: 'unanswered' };
    return { kind: 'answered', afterMs: durationMs, status: result.status, retryAfterMs: result.retryAfterMs };
  } finally {
    metrics.deliveriesInFlight.dec();
  }
}

function messageOf(event: ClaimedEvent, content: EventContent, { secretBox, clock }: EventAttemptDeps) {
  const [current, ...previous] = event.sealedSecrets;
  const open = (sealed: Buffer) => secretBox.open(sealed, event.monitorId);
  return buildEventMessage({
    id: event.id,
    kind: event.webhookKind,
    monitor: { id: event.monitorId, name: event.monitorName },
    content,
    secrets: [open(current), ...previous.map(open)],
    now: clock(),
  });
}

/** Of the URL only the host, because chat URLs are secrets. */
function log(
  { id, monitorId, kind, webhookUrl, webhookKind }: ClaimedEvent,
  outcome: { attempt: number | undefined; error: string | null; status: number; duration_ms: number },
  logger: Logger,
): void {
  const host = URL.canParse(webhookUrl) ? new URL(webhookUrl).host : '';
  const fields = { monitor_id: monitorId, event_id: id, event: kind, kind: webhookKind, host, ...outcome };
  if (outcome.attempt === undefined) logger.warn(fields, 'event attempt not stored: the lease has ended');
  else if (outcome.error === 'secret_unreadable') logger.error(fields, 'event attempt');
  else logger.info(fields, 'event attempt');
}

const MAX_MATCHES = 100;
/** Matches are added until the body has about this size. A text has at most 40,000 characters. */
const MAX_BYTES = 1_000_000;
/** Their length tells how many more fit, so that little more than that is ever read, in two statements as a rule. */
const READ_FIRST = 20;

/** What an event says: the matches of a digest are read as they are now. */
export async function readEventContent(db: Queryable, event: ClaimedEvent): Promise<EventContent> {
  if (event.kind === 'monitor.spike') return { kind: event.kind, spike: event.payload };
  return { kind: event.kind, digest: await readDigest(db, event.monitorId, event.payload) };
}

async function readDigest(db: Queryable, monitorId: string, stored: StoredDigest): Promise<Digest> {
  const { period, until, count, url } = stored;
  const matches: MonitorMatch[] = [];
  let { after } = stored;
  let atOnce = READ_FIRST;
  for (let bytes = 0; bytes < MAX_BYTES && matches.length < MAX_MATCHES;) {
    const page = await readDigestMatches(db, { monitorId, after, until }, atOnce);
    for (const row of page) {
      const match = matchResource(monitorId, row);
      bytes += Buffer.byteLength(JSON.stringify(match));
      if (bytes > MAX_BYTES && matches.length > 0) break;
      matches.push(match);
    }
    if (page.length < atOnce) break;
    after = page.at(-1)!.seq;
    const fit = Math.ceil(((MAX_BYTES - bytes) * matches.length) / bytes);
    atOnce = Math.min(MAX_MATCHES - matches.length, fit);
  }
  return { interval: period, count, matches, more: Math.max(0, count - matches.length), url };
}
