import { awayEngine } from '../../shared/outages/away-engine.ts';
import { OutageLog } from '../../shared/outages/outage-log.ts';
import { toError } from '../../shared/runtime/errors.ts';
import { withDeadline } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { DeliveryDispatcher } from './delivery-dispatcher.ts';
import type { AttemptResult, DeliveryQueue, DispatcherLimits, QueuedDelivery } from './delivery-dispatcher.ts';
import { startDuePoller } from './due-poller.ts';
import type { DuePollerDeps } from './due-poller.ts';
import type { EndpointHolds } from './endpoint-holds.ts';
import { OutcomeGate } from './outcome-gate.ts';

/** The longest attempt plus the storing of its outcome. */
const STOP_TIMEOUT_MS = 9_000;

export interface DispatchingDeps {
  holds: EndpointHolds;
  metrics: Metrics;
  logger: Logger;
  monotonic: () => number;
  fatal: (error: Error) => void;
}

interface Dispatching<Delivery extends QueuedDelivery> {
  /** As in logs and in the label `work` of metrics. */
  work: string;
  queue: DeliveryQueue<Delivery>;
  readDue: DuePollerDeps['read'];
  /** @param store stores an outcome, however long Postgres is away */
  attempt: (delivery: Delivery, claimedAt: number, store: OutcomeGate['store']) => Promise<AttemptResult>;
  /** All sending was paused because of a local fault, or resumed. */
  onPause?: (isPaused: boolean) => void;
  limits: Partial<DispatcherLimits>;
}

/** Starts a dispatcher and the poller that finds what is due for it. */
export function startDispatching<Delivery extends QueuedDelivery>(
  { holds, metrics, logger, monotonic, fatal }: DispatchingDeps,
  { work, queue, readDue, attempt, onPause, limits }: Dispatching<Delivery>,
): { dispatcher: DeliveryDispatcher<Delivery>; stop: () => Promise<void> } {
  const outage = new OutageLog({ work, logger, metrics });
  const gate = new OutcomeGate({ what: `${work}: storing the outcome of an attempt`, logger, outage });
  const dispatcher = new DeliveryDispatcher({
    queue,
    monotonic,
    holds,
    outcomes: gate,
    onError: waitForEngines(outage, fatal),
    onOutage: ({ isPaused, code }) => {
      onPause?.(isPaused);
      if (isPaused) logger.error({ code, work }, 'cannot send because of a local fault; what is due waits');
      else logger.info({ work }, 'sending works again');
    },
    limits,
    attempt: (delivery, claimedAt) => attempt(delivery, claimedAt, (write) => gate.store(write)),
  });
  const pollerOutage = new OutageLog({ work: `${work}: looking for what is due`, logger, metrics });
  const poller = startDuePoller({
    read: async (after) => {
      const page = await readDue(after);
      pollerOutage.recovered();
      return page;
    },
    onDue: (target) => {
      dispatcher.markDue(target);
    },
    onError: waitForEngines(pollerOutage, fatal),
    monotonic,
  });
  return {
    dispatcher,
    async stop() {
      const ended = withDeadline(dispatcher.stop(), STOP_TIMEOUT_MS, `${work}: attempts in flight did not end in time`);
      const givenUp = ended.finally(() => {
        gate.giveUp();
      });
      await Promise.all([givenUp, poller.stop()]);
    },
  };
}

/** When an engine is away, the poller or the sweep repeats the work later; any other error ends the process. */
export function waitForEngines(outage: OutageLog, fatal: (error: Error) => void): (error: unknown) => void {
  return (error) => {
    if (awayEngine(error) !== undefined) outage.failed(error);
    else fatal(toError(error));
  };
}
