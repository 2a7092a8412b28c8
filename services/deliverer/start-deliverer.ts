import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { DeliveryAttempt } from '../../schemas/messages/monitor-match.ts';
import { DELIVERER_GROUP, MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../schemas/messages/topics.ts';
import { noteLostRecords } from '../../shared/crawl/lost-records.ts';
import {
  markAttemptsPublished,
  readUnpublishedAttempts,
  recordOutcomes,
} from '../../shared/deliveries/delivery-outcomes.ts';
import type { FinishedAttempt, RecordedAttempt } from '../../shared/deliveries/delivery-outcomes.ts';
import {
  claimDueMatches,
  claimNewMatches,
  readDeliveryTargets,
  readDueMonitors,
  releaseLeases,
  skipUndeliverable,
} from '../../shared/deliveries/pending-deliveries.ts';
import type { ClaimedDelivery, ClaimLease, DeliveryTarget } from '../../shared/deliveries/pending-deliveries.ts';
import { WEBHOOK_DEADLINE_MS } from '../../shared/deliveries/rules/delivery-outcome.ts';
import type { EgressClient } from '../../shared/http/egress-client.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { ANY_RECORD } from '../../shared/kafka/batch-runner.ts';
import { parseRecords } from '../../shared/kafka/consumed-batch.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { SecretBox } from '../../shared/rules/secret-box.ts';
import { CallBatcher } from '../../shared/runtime/call-batcher.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { OutageLog } from '../../shared/runtime/outage-log.ts';
import { traceparentOf } from '../../shared/runtime/tracing.ts';
import type { Tracing } from '../../shared/runtime/tracing.ts';
import { attemptDelivery, LEASE_MS, WebhookKeys } from './delivery-attempt.ts';
import type { AttemptDeps, SendDeps } from './delivery-attempt.ts';
import type { Claim, DeliveryDispatcher, DeliveryQueue, DispatcherLimits } from './delivery-dispatcher.ts';
import { EndpointHolds } from './endpoint-holds.ts';
import { startDispatching, waitForEngines } from './start-dispatching.ts';
import type { DispatchingDeps } from './start-dispatching.ts';
import { startEventDeliveries } from './start-event-deliveries.ts';

export interface DelivererDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** For attempts and dead letters; takes topic names without the prefix. */
  publisher: Publisher;
  pool: Pool;
  egress: EgressClient;
  secretBox: Pick<SecretBox, 'open'>;
  metrics: Metrics;
  logger: Logger;
  tracing?: Tracing | undefined;
  fatal: (error: Error) => void;
  clock?: Clock;
  monotonic?: () => number;
  random?: () => number;
  deadlineMs?: number;
  limits?: Partial<DispatcherLimits>;
}

export type Deliverer = Running & Pick<BatchConsumer, 'ready' | 'isHalted'>;

const MONITORS_PER_STEP = 500;
const MAX_OUTCOMES = 1_000;
/** Attempts that are unpublished after this time are published by the sweep. */
const UNPUBLISHED_AFTER_MS = 60_000;
/** Older records are ignored: the poller has already found their rows. */
const MAX_WAKE_UP_AGE_MS = 60_000;

/**
 * Delivers pending matches to their webhooks and publishes each attempt to monitor.deliveries; delivers events of
 * monitors beside them. See README.md of this folder for its guarantees.
 *
 * Before: the recorder stored the matches as pending and published them to monitor.matches. After: the archiver
 * consumes monitor.deliveries. The pending rows are the source of truth, so a crash at any point only delays a delivery
 * or repeats one with the same match id.
 *
 * @throws when no broker answers or a topic is missing
 */
export async function startDeliverer(deps: DelivererDeps): Promise<Deliverer> {
  const attempts = createAttemptPublisher(deps);
  attempts.sweep();
  const traces = new LRUCache<string, string>({ max: 10_000 });
  const clock = deps.clock ?? systemClock;
  const monotonic = deps.monotonic ?? (() => performance.now());
  const shared = {
    ...deps,
    clock,
    monotonic,
    holds: new EndpointHolds(monotonic),
    keys: new WebhookKeys(deps.secretBox),
    random: deps.random ?? Math.random,
    deadlineMs: deps.deadlineMs ?? WEBHOOK_DEADLINE_MS,
  };
  const matches = startMatches(shared, attempts, traces);
  const consumer = await startWakeUpConsumer(deps, { dispatcher: matches.dispatcher, traces, clock });
  // Not before: where the start fails, nobody stops what is at work.
  matches.poll();
  const events = startEventDeliveries(shared);
  return {
    ready: () => consumer.ready(),
    isHalted: () => consumer.isHalted(),
    async stop() {
      // The dispatcher first, so that it claims nothing more while the others stop.
      const outcomes = await Promise.allSettled([matches.stop(), consumer.stop(), events.stop()]);
      await attempts.stop();
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
}

/** A record only wakes the dispatcher up for a pending row, so its offset is committed even when that is dropped. */
async function startWakeUpConsumer(
  deps: DelivererDeps,
  {
    dispatcher,
    traces,
    clock,
  }: { dispatcher: DeliveryDispatcher<ClaimedDelivery>; traces: AttemptDeps['traces']; clock: Clock },
): Promise<BatchConsumer> {
  const { publisher, metrics, logger } = deps;
  return startBatchConsumer({
    ...deps,
    group: DELIVERER_GROUP,
    topics: [MONITOR_MATCHES.name],
    gather: ANY_RECORD,
    deadLetters: new DeadLetters({ publisher, group: DELIVERER_GROUP, metrics, logger }),
    noteLost: (lost) => noteLostRecords(deps.pool, lost),
    handle: async (batch) => {
      const { parsed, poison } = parseRecords(MONITOR_MATCHES.schema, batch);
      const stale = clock() - MAX_WAKE_UP_AGE_MS;
      for (const { record, value } of parsed) {
        if (value.first_delivery !== 'pending' || record.timestampMs < stale) continue;
        const traceparent = deps.tracing && traceparentOf(record.headers);
        if (traceparent !== undefined) traces.set(value.match_id, traceparent);
        dispatcher.addWakeUp(value.monitor_id, value.seq);
      }
      return { poison };
    },
  });
}

function startMatches(
  deps: DelivererDeps & SendDeps & DispatchingDeps,
  attempts: AttemptPublisher,
  traces: AttemptDeps['traces'],
): ReturnType<typeof startDispatching<ClaimedDelivery>> {
  const { pool, monotonic } = deps;
  const outcomes = new CallBatcher<FinishedAttempt, RecordedAttempt | undefined>({
    run: (finished) => recordOutcomes(pool, finished),
    // While Postgres is slow, all that are made at once end within a few groups, and so before their leases.
    maxGroup: MAX_OUTCOMES,
  });
  const attemptDeps: Omit<AttemptDeps, 'record'> = {
    ...deps,
    traces,
    failing: new LRUCache({ max: 10_000 }),
    release: ({ monitorId, seq, leaseToken }) => releaseLeases(pool, monitorId, [seq], leaseToken),
    publish: (attempt) => {
      attempts.add(attempt);
    },
  };
  return startDispatching(deps, {
    work: 'delivering',
    queue: createBatchedQueue({ pool, monotonic }),
    readDue: (after) => readDueMonitors(pool, after, MONITORS_PER_STEP),
    onPause: (isPaused) => {
      deps.metrics.deliveriesPaused.set(isPaused ? 1 : 0);
    },
    limits: deps.limits ?? {},
    attempt: (delivery, claimedAt, store) =>
      attemptDelivery(delivery, claimedAt, {
        ...attemptDeps,
        record: (attempt) => store(() => outcomes.call(attempt)),
      }),
  });
}

function createAttemptPublisher({ pool, publisher, logger, metrics, fatal }: DelivererDeps): AttemptPublisher {
  const outage = new OutageLog({ work: 'publishing webhook attempts', logger, metrics });
  return new AttemptPublisher({
    publisher,
    markPublished: async (attempts) => {
      await markAttemptsPublished(pool, attempts);
      outage.recovered();
    },
    readUnpublished: (limit) => readUnpublishedAttempts(pool, UNPUBLISHED_AFTER_MS, limit),
    onError: waitForEngines(outage, fatal),
  });
}

/**
 * The queue of pending matches in Postgres. Concurrent calls of several monitors are combined into one statement, so a
 * thousand endpoints with one match each cost a few statements and not a thousand; a single call is not delayed.
 *
 * Before: `DeliveryDispatcher` decides how many matches of a monitor to claim. After: it starts an attempt for each
 * claimed match. A claim commits a lease and uses up no attempt: after a crash the lease ends and another
 * process claims the match.
 */
function createBatchedQueue({
  pool,
  monotonic,
}: Pick<DispatchingDeps, 'monotonic'> & { pool: Pool }): DeliveryQueue<ClaimedDelivery> {
  const targets = new CallBatcher<string, DeliveryTarget>({
    run: (monitorIds) => readDeliveryTargets(pool, monitorIds),
  });
  const claims = <Request extends { monitorId: string }>(
    claim: (requests: readonly Request[], lease: ClaimLease) => Promise<ClaimedDelivery[]>,
  ) =>
    new CallBatcher<Request, Claim<ClaimedDelivery>>({
      async run(requests) {
        const claimedAt = monotonic();
        const claimed = await claim(requests, { token: randomUUID(), lengthMs: LEASE_MS });
        const byMonitor = Map.groupBy(claimed, ({ monitorId }) => monitorId);
        return requests.map(({ monitorId }) => ({ claimedAt, deliveries: byMonitor.get(monitorId) ?? [] }));
      },
    });
  const newMatches = claims<{ monitorId: string; seqs: readonly number[] }>((requests, lease) =>
    claimNewMatches(pool, requests, lease),
  );
  const dueMatches = claims<{ monitorId: string; limit: number }>((requests, lease) =>
    claimDueMatches(pool, requests, lease),
  );
  return {
    target: (monitorId) => targets.call(monitorId),
    claimNew: (monitorId, seqs) => newMatches.call({ monitorId, seqs }),
    claimDue: (monitorId, limit) => dueMatches.call({ monitorId, limit }),
    async release(deliveries) {
      const first = deliveries[0];
      if (!first) return;
      const seqs = deliveries.map(({ seq }) => seq);
      await releaseLeases(pool, first.monitorId, seqs, first.leaseToken);
    },
    skipUndeliverable: (monitorId) => skipUndeliverable(pool, monitorId),
  };
}

interface AttemptPublisherDeps {
  publisher: Pick<Publisher, 'publish'>;
  /** Marks attempts in Postgres as acknowledged by the broker. */
  markPublished: (attempts: readonly DeliveryAttempt[]) => Promise<void>;
  /** Reads at most `limit` attempts that were stored a while ago and never marked as published. */
  readUnpublished: (limit: number) => Promise<DeliveryAttempt[]>;
  /** Called with each error. Nothing is lost: the attempts stay unmarked, and the sweep publishes them. */
  onError: (error: unknown) => void;
}

const BATCH = 500;
/** Maximum attempts in the queue; further ones are left to the sweep. */
const QUEUE_LIMIT = 20_000;
const SWEEP_EVERY_MS = 30_000;

/**
 * Publishes stored attempts to monitor.deliveries, then marks them as published.
 *
 * Before: `attemptDelivery` stored the outcome of an attempt. After: the archiver copies monitor.deliveries to
 * ClickHouse. At least once: a crash between publishing and marking, or two processes that sweep at the same time,
 * publish an attempt again; consumers identify attempts by (match, attempt). A crash before publishing leaves the
 * attempt unmarked, and the sweep of any process publishes it.
 */
export class AttemptPublisher implements Running {
  private readonly options: AttemptPublisherDeps;
  private readonly timer: NodeJS.Timeout;
  private queue: DeliveryAttempt[] = [];
  private working: Promise<void> | undefined;
  private isSweepDue = false;

  constructor(options: AttemptPublisherDeps) {
    this.options = options;
    this.timer = setInterval(() => {
      this.sweep();
    }, SWEEP_EVERY_MS);
  }

  /** Queues an attempt for publishing; drops it when the queue is full, because the sweep finds it. */
  add(attempt: DeliveryAttempt): void {
    if (this.queue.length >= QUEUE_LIMIT) return;
    this.queue.push(attempt);
    this.working ??= this.work();
  }

  /** Publishes attempts that a crash or an outage of this or another process left unpublished. */
  sweep(): void {
    this.isSweepDue = true;
    this.working ??= this.work();
  }

  /** Resolves when all added attempts are published or left to the sweep of another process. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isSweepDue = false;
    await this.working;
  }

  private async work(): Promise<void> {
    try {
      while (this.queue.length > 0 || this.isSweepDue) {
        if (this.queue.length > 0) await this.publish(this.queue.splice(0, BATCH));
        else await this.sweepOnce();
      }
    } catch (error) {
      this.queue = [];
      this.isSweepDue = false;
      this.options.onError(error);
    } finally {
      this.working = undefined;
    }
  }

  private async sweepOnce(): Promise<void> {
    const left = await this.options.readUnpublished(BATCH);
    if (left.length < BATCH) this.isSweepDue = false;
    await this.publish(left);
  }

  private async publish(attempts: readonly DeliveryAttempt[]): Promise<void> {
    if (attempts.length === 0) return;
    await this.options.publisher.publish(
      MONITOR_DELIVERIES.name,
      attempts.map((attempt) => ({ key: attempt.monitor_id, value: JSON.stringify(attempt) })),
    );
    await this.options.markPublished(attempts);
  }
}
