import { randomUUID } from 'node:crypto';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { OutageLog } from '../../../shared/outages/outage-log.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import {
  claimDueEvents,
  readDueEventMonitors,
  readEventTarget,
  releaseEvents,
  skipUndeliverableEvents,
  recordEventOutcome,
} from '../../../shared/stores/events/event-deliveries.ts';
import type { ClaimedEvent } from '../../../shared/stores/events/event-deliveries.ts';
import { DeliveryDispatcher } from '../delivery-dispatcher.ts';
import type { DeliveryQueue, DispatcherLimits } from '../delivery-dispatcher.ts';
import { startDuePoller } from '../due-poller.ts';
import type { EndpointHolds } from '../endpoint-holds.ts';
import { OutcomeGate } from '../outcome-gate.ts';
import { attemptEvent, readEventContent } from './event-attempt.ts';
import type { EventAttemptDeps } from './event-attempt.ts';

export type EventDeliveryDeps = Omit<EventAttemptDeps, 'contentOf' | 'record' | 'release'> & {
  pool: Pool;
  holds: EndpointHolds;
  outage: OutageLog;
  onError: (error: unknown) => void;
};

/**
 * Events are few and may be large: 32 at a time hold at most some 60 MB. One at a time goes to a URL, beside the
 * matches.
 */
const LIMITS: Partial<DispatcherLimits> = { total: 32, perUrl: 1, perOrigin: 8 };
const MONITORS_PER_STEP = 500;
/** As of matches. */
const STOP_TIMEOUT_MS = 9_000;

/**
 * Delivers the events of monitors that are no single match, by the same dispatcher as matches, with limits of its own.
 * The pending rows are the source of truth: a crash at any point delays an event or repeats it with the same id.
 *
 * Before: the biller stored the events.
 */
export function startEventDeliveries(deps: EventDeliveryDeps): Running {
  const { pool, logger, outage, onError, monotonic } = deps;
  const gate = new OutcomeGate({ what: 'storing the outcome of an event attempt', logger, outage });
  const dispatcher = new DeliveryDispatcher<ClaimedEvent>({
    queue: eventQueue(deps),
    monotonic,
    holds: deps.holds,
    outcomes: gate,
    onError,
    onOutage: ({ isPaused, code }) => {
      if (isPaused) logger.error({ code }, 'events cannot be sent because of a local fault; they wait');
      else logger.info('events can be sent again');
    },
    limits: LIMITS,
    attempt: (event, claimedAt) =>
      attemptEvent(event, claimedAt, {
        ...deps,
        contentOf: (claimed) => readEventContent(pool, claimed),
        release: (claimed) => releaseEvents(pool, [claimed]),
        record: (attempt) => gate.store(() => recordEventOutcome(pool, attempt)),
      }),
  });
  const poller = startDuePoller({
    read: async (after) => {
      const page = await readDueEventMonitors(pool, after, MONITORS_PER_STEP);
      outage.recovered();
      return page;
    },
    onDue: (target) => {
      dispatcher.markDue(target);
    },
    onError,
    monotonic,
  });
  return {
    async stop() {
      const ended = withDeadline(dispatcher.stop(), STOP_TIMEOUT_MS, 'event attempts in flight did not end in time');
      await Promise.all([
        ended.finally(() => {
          gate.giveUp();
        }),
        poller.stop(),
      ]);
    },
  };
}

/** Events have no hints: what is new is due at once, and the poller finds it within a second. */
function eventQueue({ pool, monotonic, leaseMs }: EventDeliveryDeps): DeliveryQueue<ClaimedEvent> {
  const claim = async (monitorId: string, limit: number) => {
    const claimedAt = monotonic();
    const lease = { token: randomUUID(), lengthMs: leaseMs };
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
