import type { Consumer } from 'kafkajs';
import { withDeadline } from '../runtime/lifecycle.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { retry } from '../runtime/retry.ts';
import { isKafkaAway } from './kafka-away.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { discardGroup } from './topics/topic-admin.ts';

export interface TopicKeyListenerDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** A group for this process alone, without the prefix, so that every process sees every key. */
  group: string;
  /** Without the prefix. */
  topics: readonly string[];
  /** Called with the key of each record that arrives from now on. */
  onKey: (key: string) => void;
  /** Called when keys may have been missed: at the start and after each reconnect. */
  onGap: () => void;
  /** Called once with an unexpected error; the process must end. */
  fatal: (error: Error) => void;
  logger: Logger;
}

const MIB = 1024 * 1024;
/**
 * How long the broker waits for a record before it answers a fetch without one, after which a heartbeat is sent. A
 * heartbeat comes twice this time after another at the latest, well within the session.
 */
const WAIT_MS = 3_000;
/** With the time to delete the group it is shorter than Lifecycle's deadline. */
const DISCONNECT_MS = 5_000;

/**
 * Reports the keys of new records to a process that then reads the data elsewhere. Commits no offsets. After the broker
 * was away, or the consumer was not joined, it calls `onGap` for everything missed. It starts in the background and
 * retries indefinitely, so it also starts without a broker. Stopping deletes its group.
 */
export function startTopicKeyListener(options: TopicKeyListenerDeps): Running {
  const { kafka, prefix, group } = options;
  const logger = options.logger.child({ group });
  const stopping = new AbortController();
  const consumer = kafka.client.consumer({
    groupId: prefix + group,
    sessionTimeout: 10_000,
    // The only member of its group: no other waits for its heartbeats.
    heartbeatInterval: WAIT_MS,
    metadataMaxAge: 60_000,
    allowAutoTopicCreation: false,
    minBytes: 1,
    maxWaitTimeInMs: WAIT_MS,
    maxBytesPerPartition: MIB,
    maxBytes: 8 * MIB,
    retry: { retries: 10, restartOnFailure: () => Promise.resolve(!stopping.signal.aborted) },
  });
  const { signal } = stopping;
  const begin = () => {
    retry(() => start(consumer, options, signal), {
      what: `watching ${options.topics.join(' and ')}`,
      logger,
      signal,
    }).catch((error: unknown) => {
      logger.debug({ err: error }, 'the listener was stopped before it started');
    });
  };
  const joining = listen(consumer, options, { logger, signal, startAgain: begin });
  begin();
  return {
    async stop() {
      stopping.abort();
      await withDeadline(consumer.disconnect(), DISCONNECT_MS, `${group}: the consumer did not end at stop`);
      if (joining.hasJoined) await discardGroup({ kafka, prefix, logger }, group);
    },
  };
}

async function start(
  consumer: Consumer,
  { prefix, topics, onKey }: TopicKeyListenerDeps,
  signal: AbortSignal,
): Promise<void> {
  await consumer.connect();
  await consumer.subscribe({ topics: topics.map((topic) => prefix + topic), fromBeginning: false });
  if (signal.aborted) {
    // stop() was called while this connection was being opened.
    await consumer.disconnect();
    return;
  }
  await consumer.run({
    autoCommit: false,
    eachBatch: ({ batch }) => {
      for (const key of new Set(batch.messages.map((message) => message.key?.toString()))) {
        if (key !== undefined) onKey(key);
      }
      return Promise.resolve();
    },
  });
}

function listen(
  consumer: Consumer,
  { onGap, fatal }: TopicKeyListenerDeps,
  { logger, signal, startAgain }: { logger: Logger; signal: AbortSignal; startAgain: () => void },
): { hasJoined: boolean } {
  const { events } = consumer;
  const joining = { hasJoined: false };
  // Reading begins at the first fetch after a join. Records appended between the two are not reported as keys.
  let isBeginning = false;
  consumer.on(events.GROUP_JOIN, () => {
    joining.hasJoined = true;
    isBeginning = true;
    onGap();
  });
  consumer.on(events.FETCH, () => {
    if (!isBeginning) return;
    isBeginning = false;
    onGap();
  });
  consumer.on(events.CRASH, ({ payload: { error, restart } }) => {
    if (signal.aborted) return;
    if (restart) logger.debug({ err: error }, 'the consumer lost the broker and reconnects');
    else if (isKafkaAway(error)) startAgain();
    else {
      logger.fatal({ err: error }, 'the consumer stops permanently');
      fatal(error);
    }
  });
  return joining;
}
