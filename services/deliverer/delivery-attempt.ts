import type { LRUCache } from 'lru-cache';
import type { DeliveryAttempt } from '../../schemas/messages/delivery-attempt.ts';
import { decideOutcome } from '../../shared/domain/webhooks/delivery-outcome.ts';
import type { DeliveryOutcome } from '../../shared/domain/webhooks/delivery-outcome.ts';
import { storableText } from '../../shared/domain/storable-text.ts';
import { buildWebhookMessage } from '../../shared/domain/webhooks/webhook-message.ts';
import type { WebhookMessage } from '../../shared/domain/webhooks/webhook-request.ts';
import type { EgressClient } from '../../shared/http/egress-client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { ClaimedDelivery } from '../../shared/stores/deliveries/deliveries.ts';
import type { FinishedAttempt, RecordedAttempt } from '../../shared/stores/deliveries/delivery-outcomes.ts';
import type { TraceSpan, Tracing } from '../../shared/tracing/tracing.ts';
import { callReceiver } from './call-receiver.ts';
import type { AttemptAnswer } from './call-receiver.ts';
import type { AttemptResult } from './delivery-dispatcher.ts';
import type { WebhookKeys } from './webhook-keys.ts';

export interface AttemptDeps {
  egress: EgressClient;
  keys: WebhookKeys;
  /** Stores the outcome; undefined when the lease has ended and another process has claimed the match. */
  record: (attempt: FinishedAttempt) => Promise<RecordedAttempt | undefined>;
  /** Releases the lease of a match that was not attempted. */
  release: (delivery: ClaimedDelivery) => Promise<void>;
  publish: (attempt: DeliveryAttempt) => void;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** Monotonic clock, milliseconds: a wall clock may jump. */
  monotonic: () => number;
  /**
   * Monitors whose last attempt here failed, so that a dead endpoint is one warning and not one for each attempt.
   */
  failing: LRUCache<string, true>;
  /** 0 ≤ random < 1. */
  random: () => number;
  deadlineMs: number;
  leaseMs: number;
  tracing?: Tracing | undefined;
  /** The traces of sampled matches between their hint and their first attempt, by the id of the match. */
  traces: LRUCache<string, string>;
}

/**
 * Remaining lease that a request needs to start: 8 s for the receiver and 2 s to store the outcome. Otherwise another
 * process could claim the match while this one still talks to the receiver.
 */
const LEASE_NEEDED_MS = 10_000;
const EXCERPT_CHARACTERS = 500;

/**
 * Makes one attempt to deliver a claimed match. A request that could not be sent because of a local fault does not
 * count as an attempt: the lease is released and the match stays as it was.
 *
 * Before: `DeliveryDispatcher` claimed the match with a lease. Steps:
 * 1. Send the request. After a crash from here on the receiver may have the match; it gets it again with the same id
 *    when the lease has ended.
 * 2. Store the outcome in one transaction that also ends the lease. After a crash nothing is sent again unless a retry
 *    is due.
 * 3. Hand the attempt to `AttemptPublisher`. After a crash the sweep finds it. After: the archiver consumes the
 *    published attempt.
 *
 * @param claimedAt monotonic time just before the claim was sent
 */
export async function attemptDelivery(
  delivery: ClaimedDelivery,
  claimedAt: number,
  options: AttemptDeps,
): Promise<AttemptResult> {
  const started = options.monotonic();
  if (started > claimedAt + options.leaseMs - LEASE_NEEDED_MS) {
    options.logger.warn(
      { match_id: delivery.match.id },
      'the claim took too long; the match is released without an attempt',
    );
    await options.release(delivery);
    return { kind: 'not started' };
  }
  options.metrics.deliveriesInFlight.inc();
  const span = beginSpan(delivery, options);
  let spanOutcome: Parameters<TraceSpan['end']>[0];
  try {
    const result = await callReceiver(delivery, () => buildMessage(delivery, options), { ...options, span });
    if (result.error === 'local') {
      spanOutcome = { error: `local fault: ${result.code}` };
      options.metrics.deliveryLocalFaults.inc({ code: result.code });
      await options.release(delivery);
      return { kind: 'local fault', code: result.code };
    }
    const endedAt = options.clock();
    const durationMs = Math.round(options.monotonic() - started);
    const outcome = decideOutcome(result, delivery.retryStep, options.random());
    const finished = describeAttempt(delivery, result, outcome, durationMs);
    const recorded = await options.record(finished);
    observe(delivery, outcome, { durationMs, endedAt }, options.metrics);
    spanOutcome = spanOutcomeOf(finished);
    log(delivery, finished, recorded, {
      traceId: span?.traceId,
      detail: 'detail' in result ? result.detail : undefined,
      ...options,
    });
    if (recorded) options.publish(toMessage(delivery, finished, recorded));
    if (result.error !== null) return { kind: 'unanswered' };
    return { kind: 'answered', afterMs: durationMs, status: result.status, retryAfterMs: result.retryAfterMs };
  } finally {
    span?.end(spanOutcome);
    options.metrics.deliveriesInFlight.dec();
  }
}

function beginSpan(delivery: ClaimedDelivery, { tracing, traces }: AttemptDeps): TraceSpan | undefined {
  const traceparent = traces.get(delivery.match.id);
  traces.delete(delivery.match.id);
  return tracing?.continue('deliver', traceparent, {
    kind: 'client',
    attributes: { 'forum.monitor_id': delivery.monitorId, 'forum.match_id': delivery.match.id },
  });
}

function spanOutcomeOf(finished: FinishedAttempt): Parameters<TraceSpan['end']>[0] {
  const attributes = { 'server.address': finished.host, 'http.response.status_code': finished.httpStatus };
  return finished.error === null ? { attributes } : { attributes, error: finished.error };
}

function buildMessage(delivery: ClaimedDelivery, { keys, clock }: AttemptDeps): WebhookMessage {
  const [current, ...previous] = delivery.sealedSecrets;
  const keysOf = (sealed: Buffer) => keys.of(delivery.monitorId, sealed);
  return buildWebhookMessage({
    kind: delivery.webhookKind,
    monitor: { id: delivery.monitorId, name: delivery.monitorName },
    match: delivery.match,
    secrets: [keysOf(current), ...previous.map(keysOf)],
    now: clock(),
  });
}

function describeAttempt(
  delivery: ClaimedDelivery,
  result: AttemptAnswer,
  outcome: DeliveryOutcome,
  durationMs: number,
): FinishedAttempt {
  const excerpt = 'bodyExcerpt' in result ? result.bodyExcerpt.slice(0, EXCERPT_CHARACTERS) : '';
  return {
    monitorId: delivery.monitorId,
    seq: delivery.seq,
    leaseToken: delivery.leaseToken,
    webhookKind: delivery.webhookKind,
    isResent: delivery.isResent,
    webhookUrl: delivery.webhookUrl,
    host: URL.parse(delivery.webhookUrl)?.host ?? '',
    durationMs,
    httpStatus: result.status,
    error: outcome.error,
    responseExcerpt: excerpt === '' ? null : storableText(excerpt),
    deliveryStatus: outcome.deliveryStatus,
    delayMs: outcome.delayMs,
  };
}

function toMessage(delivery: ClaimedDelivery, finished: FinishedAttempt, recorded: RecordedAttempt): DeliveryAttempt {
  return {
    v: 1,
    monitor_id: delivery.monitorId,
    seq: delivery.seq,
    match_id: delivery.match.id,
    attempt: recorded.attempt,
    started_at: recorded.startedAt.toISOString(),
    duration_ms: finished.durationMs,
    webhook_kind: finished.webhookKind,
    host: finished.host,
    status: finished.httpStatus,
    error: finished.error,
    delivery_status: finished.deliveryStatus,
    next_attempt_at: recorded.nextAttemptAt?.toISOString() ?? null,
  };
}

function observe(
  delivery: ClaimedDelivery,
  outcome: DeliveryOutcome,
  times: { durationMs: number; endedAt: number },
  metrics: Metrics,
): void {
  metrics.deliveryAttempts.inc({ kind: delivery.webhookKind, outcome: outcome.error ?? outcome.deliveryStatus });
  metrics.deliverySeconds.observe({ outcome: outcome.deliveryStatus }, times.durationMs / 1000);
  // A backfilled match was found long after it was created, seen and entered.
  if (outcome.deliveryStatus !== 'delivered' || delivery.attempt > 0 || delivery.match.backfill === true) return;
  const since = (label: string, moment: number) => {
    metrics.deliveryLatency.observe({ since: label }, Math.max(0, times.endedAt - moment) / 1000);
  };
  since('created', Date.parse(delivery.match.created_utc));
  since('seen', delivery.firstSeenAt.getTime());
  since('entered', delivery.enteredAt.getTime());
}

/**
 * Logs one line per attempt with its whole outcome: a warning for the first failure of an endpoint, until it works
 * again. The line has only the host of the URL, because chat URLs are secrets.
 */
function log(
  delivery: ClaimedDelivery,
  finished: FinishedAttempt,
  recorded: RecordedAttempt | undefined,
  {
    detail,
    traceId,
    logger,
    failing,
  }: Pick<AttemptDeps, 'logger' | 'failing'> & { detail: string | undefined; traceId: string | undefined },
): void {
  const fields = {
    monitor_id: delivery.monitorId,
    match_id: delivery.match.id,
    attempt: recorded?.attempt ?? delivery.attempt + 1,
    kind: finished.webhookKind,
    host: finished.host,
    status: finished.httpStatus,
    error: finished.error,
    detail,
    duration_ms: finished.durationMs,
    delivery_status: finished.deliveryStatus,
    next_attempt_at: recorded?.nextAttemptAt ?? null,
    trace_id: traceId,
  };
  const wasFailing = failing.delete(delivery.monitorId);
  if (finished.error !== null) failing.set(delivery.monitorId, true);
  if (!recorded)
    logger.warn(fields, 'webhook attempt not stored: the lease has ended and another process has claimed the match');
  else if (finished.error === 'secret_unreadable') logger.error(fields, 'webhook attempt');
  else if (finished.error !== null && !wasFailing)
    logger.warn(
      fields,
      'webhook attempt failed; further failures of this monitor are logged as info until one succeeds',
    );
  else
    logger.info(
      fields,
      wasFailing && finished.error === null ? 'webhook attempt; the webhook works again' : 'webhook attempt',
    );
}
