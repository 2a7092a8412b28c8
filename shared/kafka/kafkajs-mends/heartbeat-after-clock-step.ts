import { createRequire } from 'node:module';

interface ConsumerGroup {
  /** When the last heartbeat was sent, in milliseconds since 1970. */
  lastRequest: number;
  heartbeat: (this: ConsumerGroup, options: { interval: number }) => Promise<void>;
}

let isDone = false;

/**
 * Mends kafkajs 2.2.4, whose consumers send no heartbeat while the clock shows an earlier time than at the last one:
 * after a clock was set back by an hour the broker expels them for an hour, each time that they join again.
 *
 * @throws Error when the installed kafkajs is not built like that version
 */
export function heartbeatAfterClockStep(): void {
  if (isDone) return;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup.js') as {
    prototype: Partial<ConsumerGroup>;
  };
  const { heartbeat } = prototype;
  if (typeof heartbeat !== 'function') {
    throw new Error('kafkajs has no heartbeat: heartbeat-after-clock-step.ts mends 2.2.4, check it again');
  }
  prototype.heartbeat = function (options) {
    if (this.lastRequest > Date.now()) this.lastRequest = Number.NEGATIVE_INFINITY;
    return heartbeat.call(this, options);
  };
  isDone = true;
}
