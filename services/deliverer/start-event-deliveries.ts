import { randomUUID } from 'node:crypto';
import type { Digest } from '../../schemas/messages/monitor-event.ts';
import type { MonitorMatch } from '../../schemas/messages/monitor-match.ts';
import {
  claimDueEvents,
  readDueEventMonitors,
  readEventTarget,
  recordEventOutcome,
  releaseEvents,
  skipUndeliverableEvents,
} from '../../shared/deliveries/event-deliveries.ts';
import type { ClaimedEvent, StoredDigest } from '../../shared/deliveries/event-deliveries.ts';
import type { WebhookContent } from '../../shared/deliveries/rules/webhook-message.ts';
import { matchResource } from '../../shared/matches/rules/match-resource.ts';
import { readDigestMatches } from '../../shared/notices/due-digests.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { hostOf, LEASE_MS, makeAttempt } from './delivery-attempt.ts';
import type { SendDeps } from './delivery-attempt.ts';
import type { AttemptResult, DeliveryQueue } from './delivery-dispatcher.ts';
import { startDispatching } from './start-dispatching.ts';
import type { DispatchingDeps, OutcomeGate } from './start-dispatching.ts';

type EventDeliveryDeps = SendDeps & DispatchingDeps & { pool: Pool };

/** Events may be large: 32 at a time hold some 60 MB. One at a time goes to a URL, beside the matches. */
const LIMITS = { total: 32, perUrl: 1, perOrigin: 8 };
const MONITORS_PER_STEP = 500;

/**
 * Delivers the events of monitors that are no single match, by the same dispatcher as matches, with limits of its own.
 * The pending rows are the source of truth: a crash at any point delays an event or repeats it with the same id.
 *
 * Before: the biller stored the events.
 */
export function startEventDeliveries(deps: EventDeliveryDeps): Running {
  const events = startDispatching(deps, {
    work: 'delivering events',
    queue: eventQueue(deps),
    readDue: (after) => readDueEventMonitors(deps.pool, after, MONITORS_PER_STEP),
    limits: LIMITS,
    attempt: (event, claimedAt, store) => attemptEvent(event, claimedAt, deps, store),
  });
  events.poll();
  return events;
}

/** Events have no wake-ups: a new one is due at once, and the poller finds it within a second. */
function eventQueue({ pool, monotonic }: EventDeliveryDeps): DeliveryQueue<ClaimedEvent> {
  const claim = async (monitorId: string, limit: number) => {
    const claimedAt = monotonic();
    const lease = { token: randomUUID(), lengthMs: LEASE_MS };
    return { claimedAt, deliveries: await claimDueEvents(pool, { monitorId, limit }, lease) };
  };
  return {
    target: (monitorId) => readEventTarget(pool, monitorId),
    claimNew: (monitorId, seqs) => claim(monitorId, seqs.length),
    claimDue: claim,
    release: (events) => releaseEvents(pool, events),
    async skipUndeliverable(monitorId) {
      await skipUndeliverableEvents(pool, monitorId);
      return false;
    },
  };
}

/** Makes one attempt to deliver a claimed event, by the same rules as an attempt to deliver a match. */
async function attemptEvent(
  event: ClaimedEvent,
  claimedAt: number,
  deps: EventDeliveryDeps,
  store: OutcomeGate['store'],
): Promise<AttemptResult> {
  const { pool, metrics, logger } = deps;
  const { id, monitorId, seq, leaseToken, webhookUrl, webhookKind, kind: type } = event;
  return makeAttempt(event, claimedAt, deps, {
    id,
    retryStep: event.attempt,
    content: await readEventContent(pool, event),
    release: () => releaseEvents(pool, [event]),
    settle: async ({ result: { status }, outcome, durationMs }) => {
      const finished = { monitorId, seq, leaseToken, webhookUrl, httpStatus: status, ...outcome };
      const attempt = await store(() => recordEventOutcome(pool, finished));
      const { deliveryStatus, error } = outcome;
      metrics.monitorEvents.inc({ type, outcome: deliveryStatus === 'pending' ? 'retried' : deliveryStatus });
      const named = { monitor_id: monitorId, event_id: id, event: type, kind: webhookKind, host: hostOf(webhookUrl) };
      const fields = { ...named, attempt, status, duration_ms: durationMs, ...outcome };
      if (attempt === undefined) logger.warn(fields, 'event attempt not stored: the lease has ended');
      else if (error === 'secret_unreadable') logger.error(fields, 'event attempt');
      else logger.info(fields, 'event attempt');
    },
  });
}

const MAX_MATCHES = 100;
/** Matches are added until the body has about this size. A text has at most 40,000 characters. */
const MAX_BYTES = 1_000_000;
/** Their length tells how many more fit, so that little more than that is ever read, in two statements as a rule. */
const READ_FIRST = 20;

/** What an event says: the matches of a digest are read as they are now. */
async function readEventContent(db: Queryable, event: ClaimedEvent): Promise<WebhookContent> {
  if (event.kind === 'monitor.spike') return { type: event.kind, spike: event.payload };
  return { type: event.kind, digest: await readDigest(db, event.monitorId, event.payload) };
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
