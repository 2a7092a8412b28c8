import type { DeliveryTarget, QueuePage } from '../../shared/deliveries/pending-deliveries.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { toError } from '../../shared/runtime/errors.ts';
import { withDeadline } from '../../shared/runtime/lifecycle.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { OutageLog, unavailableEngine } from '../../shared/runtime/outage-log.ts';
import { retry } from '../../shared/runtime/retry.ts';
import type { RetryDeps } from '../../shared/runtime/retry.ts';
import { DeliveryDispatcher } from './delivery-dispatcher.ts';
import type { AttemptResult, DeliveryQueue, DispatcherLimits, QueuedDelivery } from './delivery-dispatcher.ts';
import type { EndpointHolds } from './endpoint-holds.ts';

/** The longest attempt and the storing of its outcome. */
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
  /** @param store stores an outcome, however long Postgres is unavailable */
  attempt: (delivery: Delivery, claimedAt: number, store: OutcomeGate['store']) => Promise<AttemptResult>;
  /** All sending was paused because of a local fault, or resumed. */
  onPause?: (isPaused: boolean) => void;
  limits: Partial<DispatcherLimits>;
}

/** A dispatcher, and the poller that finds what is due for it from `poll` on. Stop both. */
export function startDispatching<Delivery extends QueuedDelivery>(
  { holds, metrics, logger, monotonic, fatal }: DispatchingDeps,
  { work, queue, readDue, attempt, onPause, limits }: Dispatching<Delivery>,
): { dispatcher: DeliveryDispatcher<Delivery>; poll: () => void; stop: () => Promise<void> } {
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
      if (isPaused) logger.error({ code, work }, 'cannot send because of a local fault; due deliveries wait');
      else logger.info({ work }, 'sending works again');
    },
    limits,
    attempt: (delivery, claimedAt) => attempt(delivery, claimedAt, (write) => gate.store(write)),
  });
  const pollerOutage = new OutageLog({ work: `${work}: looking for what is due`, logger, metrics });
  let poller: Running | undefined;
  return {
    dispatcher,
    poll() {
      poller = startDuePoller({
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
    },
    async stop() {
      const ended = withDeadline(dispatcher.stop(), STOP_TIMEOUT_MS, `${work}: attempts in flight did not end in time`);
      const givenUp = ended.finally(() => {
        gate.giveUp();
      });
      await Promise.all([givenUp, poller?.stop()]);
    },
  };
}

/** When an engine is unavailable, the poller or the sweep repeats the work later; any other error ends the process. */
export function waitForEngines(outage: OutageLog, fatal: (error: Error) => void): (error: unknown) => void {
  return (error) => {
    if (unavailableEngine(error) !== undefined) outage.failed(error);
    else fatal(toError(error));
  };
}

interface DuePollerDeps {
  /** Reads the next monitors with pending matches after the id `after`, and which of them have due ones. */
  read: (after: string) => Promise<QueuePage>;
  onDue: (target: DeliveryTarget) => void;
  onError: (error: unknown) => void;
  /** Milliseconds; never goes back. */
  monotonic: Clock;
  /** Default: delay. */
  pause?: typeof delay;
}

/** New matches arrive as wake-ups, so this interval is not part of their latency. */
const EVERY_MS = 1_000;
/**
 * A walk also steps over each row that was delivered while a snapshot of the database is open, a dump's for instance:
 * after 120,000 of them it takes 0.1 s. Resting ten times as long, the poller burdens PostgreSQL by a tenth of a core.
 */
const RESTS = 10;
/** A retry that is due waits no longer, however many monitors have pending matches. */
const LONGEST_MS = 5_000;

/**
 * Walks over all monitors with pending matches, again and again. It finds retries that are due, matches whose wake-up
 * was dropped, and matches whose lease ended after a crash. The dispatcher then claims them.
 */
export function startDuePoller(options: DuePollerDeps): Running {
  const stopping = new AbortController();
  const walking = walk(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await walking;
    },
  };
}

async function walk(options: DuePollerDeps, signal: AbortSignal): Promise<void> {
  const { monotonic, pause = delay } = options;
  let after = '';
  let begun = monotonic();
  while (!signal.aborted) {
    try {
      const page = await options.read(after);
      for (const target of page.due) options.onDue(target);
      after = page.next ?? '';
      if (page.next !== null) continue;
    } catch (error) {
      options.onError(error);
      // A server that was unavailable is asked again soon, however long it let this wait.
      begun = monotonic();
    }
    await pause(Math.min(LONGEST_MS, Math.max(EVERY_MS, RESTS * (monotonic() - begun))), signal);
    begun = monotonic();
  }
}

type OutcomeGateDeps = Pick<RetryDeps, 'what' | 'logger' | 'outage' | 'minMs'>;

/** Failures of one outcome after which nothing more is claimed. A deadlock or a lost connection ends sooner. */
const FAILURES_UNTIL_CLOSED = 3;
const MOST_WAIT_MS = 1_000;

/**
 * Stores outcomes of attempts, and says whether more may be claimed. With a full disk Postgres takes claims but no
 * outcomes: a lease fits into its page, the row of an attempt does not. A match that is sent then is sent again when
 * its lease ends, so nothing more is claimed while an outcome waits that failed three times. Waiting outcomes are tried
 * again. Their leases may have ended: they count unless another process has claimed the match since.
 */
export class OutcomeGate {
  private readonly options: OutcomeGateDeps;
  private readonly givingUp = new AbortController();
  private stuck = 0;

  constructor(options: OutcomeGateDeps) {
    this.options = options;
  }

  get isOpen(): boolean {
    return this.stuck === 0;
  }

  /**
   * Stores an outcome, however long Postgres is unavailable.
   *
   * @throws an error that is no outage, and after `giveUp` the last one
   */
  async store<T>(write: () => Promise<T>): Promise<T> {
    const { signal } = this.givingUp;
    if (signal.aborted) return write();
    let failures = 0;
    let last: unknown;
    const attempt = async () => {
      try {
        return await write();
      } catch (error) {
        last = error;
        if (++failures === FAILURES_UNTIL_CLOSED) this.stuck++;
        throw error;
      }
    };
    try {
      return await retry(attempt, { ...this.options, maxMs: MOST_WAIT_MS, isRetryable: isPostgresUnavailable, signal });
    } catch (error) {
      throw toError(this.givingUp.signal.aborted && last !== undefined ? last : error);
    } finally {
      if (failures >= FAILURES_UNTIL_CLOSED) this.stuck--;
    }
  }

  /** For a stop: ends the waiting of outcomes that cannot be stored. */
  giveUp(): void {
    this.givingUp.abort();
  }
}
