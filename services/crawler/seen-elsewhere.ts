import { FORUM_COMMENTS, FORUM_POSTS } from '../../schemas/messages/topics.ts';
import { randomText } from '../../shared/domain/identifiers.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { startTopicKeyListener } from '../../shared/kafka/topic-key-listener.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/** Each process has its own consumer group and deletes it on stop. */
const GROUP = 'crawler-seen-';

export interface SeenElsewhereDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** Called with the fullname of each thing that any crawler process publishes. */
  onThing: (name: string) => void;
  fatal: (error: Error) => void;
  logger: Logger;
}

/**
 * Reports what other crawler processes publish, so that this process does not publish it again. It only saves work: a
 * thing that is reported late, or never, is published twice, which is harmless.
 */
export function listenForThings({ onThing, ...deps }: SeenElsewhereDeps): Running {
  return startTopicKeyListener({
    ...deps,
    group: GROUP + randomText(12),
    topics: [FORUM_POSTS.name, FORUM_COMMENTS.name],
    onKey: onThing,
    onGap: () => undefined,
  });
}
