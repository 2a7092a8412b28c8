import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';

interface ConsumerGroup {
  /** When the last heartbeat was sent, in milliseconds since 1970. */
  lastRequest: number;
  heartbeat: (this: ConsumerGroup, options: { interval: number }) => Promise<void>;
  commitOffsets: (this: ConsumerGroup, offsets: object) => Promise<void>;
}

let isDone = false;

/**
 * Mends two faults of kafkajs 2.2.4. Its consumers send no heartbeat while the clock shows an earlier time than at the
 * last one: after a clock was set back by an hour the broker expels them for an hour, each time that they join again.
 * And they look for the coordinator of their group only when they join. Where it died or hangs they asked it until they
 * gave up, and forgot their member ids, so that the group waited for members that did not exist any more.
 *
 * @throws Error when the installed kafkajs is not built like that version
 */
export function mendHeartbeats(): void {
  if (isDone) return;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup.js') as {
    prototype: Partial<ConsumerGroup>;
  };
  const { heartbeat, commitOffsets } = prototype;
  if (typeof heartbeat !== 'function' || typeof commitOffsets !== 'function') {
    throw new Error('kafkajs has no heartbeat or commit: heartbeats.ts mends 2.2.4, check it again');
  }
  prototype.heartbeat = function (options) {
    if (this.lastRequest > Date.now()) this.lastRequest = Number.NEGATIVE_INFINITY;
    return heartbeat.call(this, options).catch(joinAgain);
  };
  prototype.commitOffsets = function (offsets) {
    return commitOffsets.call(this, offsets).catch(joinAgain);
  };
  isDone = true;
}

/** Where the connection is lost: throws the answer of a broker for which kafkajs joins again, with its member id. */
function joinAgain(error: unknown): never {
  if (!(error instanceof kafkajs.KafkaJSConnectionError)) throw error;
  const answer = { type: 'NOT_COORDINATOR_FOR_GROUP', code: 16, retriable: true };
  throw new kafkajs.KafkaJSProtocolError(Object.assign(new Error(error.message), answer));
}
