import { LRUCache } from 'lru-cache';
import type { WebhookKind } from '../../schemas/api/monitors.ts';
import type { DeliveryAttempt } from '../../schemas/messages/monitor-match.ts';
import type { FinishedAttempt, RecordedAttempt } from '../../shared/deliveries/delivery-outcomes.ts';
import type { ClaimedDelivery } from '../../shared/deliveries/pending-deliveries.ts';
import { decideOutcome } from '../../shared/deliveries/rules/delivery-outcome.ts';
import type { DeliveryOutcome } from '../../shared/deliveries/rules/delivery-outcome.ts';
import { buildWebhookMessage, signingKeys, webhookRequestUrl } from '../../shared/deliveries/rules/webhook-message.ts';
import type { SigningKeys, WebhookContent, WebhookMessage } from '../../shared/deliveries/rules/webhook-message.ts';
import type { EgressClient, EgressResult } from '../../shared/http/egress-client.ts';
import { parseRetryAfterBody } from '../../shared/http/egress-client.ts';
import { storableText } from '../../shared/postgres/sql.ts';
import type { SecretBox } from '../../shared/rules/secret-box.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorMessage } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { traceHeaders } from '../../shared/runtime/tracing.ts';
import type { TraceSpan, Tracing } from '../../shared/runtime/tracing.ts';
import type { AttemptResult } from './delivery-dispatcher.ts';

/** What attempts of matches and of events need. */
export interface SendDeps {
  egress: EgressClient;
  keys: WebhookKeys;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** Monotonic clock, milliseconds: a wall clock may jump. */
  monotonic: () => number;
  /** 0 ≤ random < 1. */
  random: () => number;
  deadlineMs: number;
}

/** Length of a claim's lease. What a killed process claimed is claimed again after it. */
export const LEASE_MS = 20_000;

/**
 * The keys of webhook secrets, cached: opening a secret and making its keys takes longer than signing with them. A
 * rotated secret has another sealed form, and so other keys.
 */
export class WebhookKeys {
  private readonly secretBox: Pick<SecretBox, 'open'>;
  /** By monitor and sealed secret, about 10 MB: a box that was copied to another monitor must not open there. */
  private readonly keys = new LRUCache<string, SigningKeys>({ max: 10_000 });

  constructor(secretBox: Pick<SecretBox, 'open'>) {
    this.secretBox = secretBox;
  }

  /** @throws Error when the secret cannot be opened */
  of(monitorId: string, sealed: Buffer): SigningKeys {
    const name = `${monitorId}|${sealed.toString('latin1')}`;
    const known = this.keys.get(name);
    if (known) return known;
    const keys = signingKeys(this.secretBox.open(sealed, monitorId));
    this.keys.set(name, keys);
    return keys;
  }
}

interface Claimed {
  monitorId: string;
  monitorName: string;
  webhookUrl: string;
  webhookKind: WebhookKind;
  /** The current one first. */
  sealedSecrets: readonly [Buffer, ...Buffer[]];
}

type AttemptAnswer = EgressResult | { error: 'secret_unreadable'; status: 0; detail: string };

/** An attempt that counts. */
export interface MadeAttempt {
  result: AttemptAnswer;
  outcome: DeliveryOutcome;
  durationMs: number;
}

interface AttemptSteps {
  /** The id of the match or event. */
  id: string;
  /** Attempts made since it was last queued. */
  retryStep: number;
  content: WebhookContent;
  span?: TraceSpan | undefined;
  /** Ends the lease of what was not attempted. */
  release: () => Promise<void>;
  /** Stores the outcome, which also ends the lease. */
  settle: (made: MadeAttempt) => Promise<void>;
}

/**
 * Remaining lease that a request needs to start: 8 s for the receiver and 2 s to store the outcome. Otherwise another
 * process could claim the match while this one still talks to the receiver.
 */
const LEASE_NEEDED_MS = 10_000;
const EXCERPT_CHARACTERS = 500;

/**
 * Makes one attempt to deliver what `DeliveryDispatcher` claimed with a lease. A request that could not be sent because
 * of a local fault does not count as an attempt: the lease is released. Steps:
 * 1. Send the request. After a crash from here on the receiver may have it, and gets it again with the same id when the
 *    lease has ended.
 * 2. `settle`. After a crash nothing is sent again unless a retry is due.
 *
 * @param claimedAt monotonic time just before the claim was sent
 */
export async function makeAttempt(
  claimed: Claimed,
  claimedAt: number,
  deps: SendDeps,
  { id, retryStep, content, span, release, settle }: AttemptSteps,
): Promise<AttemptResult> {
  const { metrics, monotonic } = deps;
  const started = monotonic();
  if (started > claimedAt + LEASE_MS - LEASE_NEEDED_MS) {
    deps.logger.warn({ id }, 'the claim took too long; it is released without an attempt');
    await release();
    return { kind: 'not started' };
  }
  metrics.deliveriesInFlight.inc();
  try {
    const result = await callReceiver(claimed, { id, content, span }, deps);
    if (result.error === 'local') {
      metrics.deliveryLocalFaults.inc({ code: result.code });
      await release();
      return { kind: 'local fault', code: result.code };
    }
    const durationMs = Math.round(monotonic() - started);
    const outcome = decideOutcome(result, retryStep, deps.random());
    await settle({ result, outcome, durationMs });
    metrics.deliveryAttempts.inc({ kind: claimed.webhookKind, outcome: outcome.error ?? outcome.deliveryStatus });
    if (result.error !== null) return { kind: 'unanswered' };
    return { kind: 'answered', afterMs: durationMs, status: result.status, retryAfterMs: result.retryAfterMs };
  } finally {
    metrics.deliveriesInFlight.dec();
  }
}

/** Sends one request through the egress client; the span is handed on to generic webhooks as `traceparent`. */
async function callReceiver(
  { monitorId, monitorName, webhookKind, webhookUrl, sealedSecrets }: Claimed,
  { id, content, span }: Pick<AttemptSteps, 'id' | 'content' | 'span'>,
  { egress, keys, clock, deadlineMs }: SendDeps,
): Promise<AttemptAnswer> {
  let message: WebhookMessage;
  try {
    const [current, ...previous] = sealedSecrets;
    const keysOf = (sealed: Buffer) => keys.of(monitorId, sealed);
    message = buildWebhookMessage({
      id,
      kind: webhookKind,
      monitor: { id: monitorId, name: monitorName },
      content,
      secrets: [keysOf(current), ...previous.map(keysOf)],
      now: clock(),
    });
  } catch (error) {
    // SECRET_KEY changed since the secret was stored. The retry schedule gives the operator time to restore the key.
    return { error: 'secret_unreadable', status: 0, detail: errorMessage(error) };
  }
  const answer = await egress.send({
    url: webhookRequestUrl(webhookKind, webhookUrl),
    method: 'POST',
    // Chat services have no use for it.
    headers: { ...message.headers, ...(webhookKind === 'generic' ? traceHeaders(span).headers : {}) },
    body: message.body,
    deadlineMs,
  });
  if (webhookKind !== 'discord' || answer.status !== 429) return answer;
  // Discord also gives the wait in the body, with more precision; the longer of the two counts.
  const asked = parseRetryAfterBody(answer.bodyExcerpt);
  return asked === undefined ? answer : { ...answer, retryAfterMs: Math.max(asked, answer.retryAfterMs ?? 0) };
}

/** Only the host of the URL, because chat URLs are secrets. */
export const hostOf = (webhookUrl: string): string => URL.parse(webhookUrl)?.host ?? '';

export interface AttemptDeps extends SendDeps {
  /** Stores the outcome; undefined when the lease has ended and another process has claimed the match. */
  record: (attempt: FinishedAttempt) => Promise<RecordedAttempt | undefined>;
  /** Releases the lease of a match that was not attempted. */
  release: (delivery: ClaimedDelivery) => Promise<void>;
  publish: (attempt: DeliveryAttempt) => void;
  /** Monitors whose last attempt here failed, so that a dead endpoint is one warning and not one for each attempt. */
  failing: LRUCache<string, true>;
  tracing?: Tracing | undefined;
  /** The traces of sampled matches between their wake-up and their first attempt, by the id of the match. */
  traces: LRUCache<string, string>;
}

/** After a crash the sweep of `AttemptPublisher` finds the attempt. After: the archiver consumes it. */
export async function attemptDelivery(
  delivery: ClaimedDelivery,
  claimedAt: number,
  deps: AttemptDeps,
): Promise<AttemptResult> {
  const span = beginSpan(delivery, deps);
  let spanOutcome: Parameters<TraceSpan['end']>[0];
  try {
    const end = await makeAttempt(delivery, claimedAt, deps, {
      id: delivery.match.id,
      retryStep: delivery.retryStep,
      content: { type: 'monitor.match', match: delivery.match },
      span,
      release: () => deps.release(delivery),
      settle: async (made) => {
        const endedAt = deps.clock();
        const finished = describeAttempt(delivery, made);
        const recorded = await deps.record(finished);
        observe(delivery, made, endedAt, deps.metrics);
        spanOutcome = spanOutcomeOf(finished);
        log(delivery, finished, recorded, {
          traceId: span?.traceId,
          detail: 'detail' in made.result ? made.result.detail : undefined,
          ...deps,
        });
        if (recorded) deps.publish(toMessage(delivery, finished, recorded));
      },
    });
    if (end.kind === 'local fault') spanOutcome = { error: `local fault: ${end.code}` };
    return end;
  } finally {
    span?.end(spanOutcome);
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

function describeAttempt(delivery: ClaimedDelivery, { result, outcome, durationMs }: MadeAttempt): FinishedAttempt {
  const excerpt = 'bodyExcerpt' in result ? result.bodyExcerpt.slice(0, EXCERPT_CHARACTERS) : '';
  const { monitorId, seq, leaseToken, webhookKind, isResent, webhookUrl } = delivery;
  return {
    ...{ monitorId, seq, leaseToken, webhookKind, isResent, webhookUrl, durationMs },
    host: hostOf(webhookUrl),
    httpStatus: result.status,
    responseExcerpt: excerpt === '' ? null : storableText(excerpt),
    ...outcome,
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
  { outcome, durationMs }: MadeAttempt,
  endedAt: number,
  metrics: Metrics,
): void {
  metrics.deliverySeconds.observe({ outcome: outcome.deliveryStatus }, durationMs / 1000);
  // A backfilled match was found long after it was created, seen and entered.
  if (outcome.deliveryStatus !== 'delivered' || delivery.attempt > 0 || delivery.match.backfill === true) return;
  const since = (label: string, moment: number) => {
    metrics.deliveryLatency.observe({ since: label }, Math.max(0, endedAt - moment) / 1000);
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
  const hasFailed = finished.error !== null;
  if (hasFailed) failing.set(delivery.monitorId, true);
  if (!recorded)
    logger.warn(fields, 'webhook attempt not stored: the lease has ended and another process has claimed it');
  else if (finished.error === 'secret_unreadable') logger.error(fields, 'webhook attempt');
  else if (hasFailed && !wasFailing) logger.warn(fields, 'webhook attempt failed; further failures are logged as info');
  else logger.info(fields, wasFailing && !hasFailed ? 'webhook attempt; the webhook works again' : 'webhook attempt');
}
