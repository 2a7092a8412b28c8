import { MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import { startTopicKeyListener } from '../../../shared/kafka/topic-key-listener.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { WakeUps } from './live-tails.ts';

/** Each process has its own consumer group and deletes it on stop. */
const GROUP = 'live-tail-';

/** Wakes live tails when matches of their monitors are published, so that they need not wait for the next poll. */
export function startMatchWakeUps(options: {
  kafka: KafkaConnection;
  prefix: string;
  fatal: (error: Error) => void;
  logger: Logger;
}): WakeUps & Running {
  let listener: Parameters<WakeUps['listen']>[0] | undefined;
  const watch = startTopicKeyListener({
    ...options,
    group: GROUP + randomText(12),
    topics: [MONITOR_MATCHES.name],
    onKey: (monitorId) => listener?.(monitorId),
    onGap: () => listener?.(undefined),
  });
  return {
    listen(given) {
      listener = given;
    },
    stop: () => watch.stop(),
  };
}
