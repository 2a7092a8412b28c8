import { createRequire } from 'node:module';

/** The requests of one connection. */
interface RequestQueue {
  readonly enforceRequestTimeout: boolean;
  /** Wait to be sent, while a broker slows this client down. */
  readonly pending: { readonly length: number };
  /** Wait for their answers. */
  readonly inflight: ReadonlyMap<number, InflightRequest>;
  readonly isConnected: () => boolean;
  scheduleRequestTimeoutCheck: (this: RequestQueue) => void;
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
  destroy: (this: RequestQueue) => void;
}

interface InflightRequest {
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  /** Milliseconds. */
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

/** Requests have at least 12 s, so their ends need not be seen to the tenth of a second. */
const CHECK_MS = 250;

let isDone = false;

/**
 * Mends two kinds of timers of kafkajs 2.2.4, which kept a process busy that had nothing to do. After its first answer
 * a connection looked once a millisecond for requests that wait to be sent, for ever; now it looks only while there are
 * any. And each connection looked ten times a second for requests that have timed out; now one timer looks for all of
 * them. A process with all services has some 40 connections.
 *
 * @throws Error when the installed kafkajs is not built like that version
 */
export function mendRequestTimers(): void {
  if (isDone) return;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as {
    prototype: Partial<RequestQueue>;
  };
  mendPrototype(prototype);
  isDone = true;
}

function mendPrototype(prototype: Partial<RequestQueue>): void {
  const { scheduleRequestTimeoutCheck, scheduleCheckPendingRequests, destroy } = prototype;
  if (!scheduleRequestTimeoutCheck || !scheduleCheckPendingRequests || !destroy) {
    throw new Error('the RequestQueue of kafkajs has other methods: request-timers.ts mends 2.2.4, check it again');
  }
  const watch = new TimeoutWatch();
  prototype.scheduleRequestTimeoutCheck = function () {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    watch.add(this);
  };
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
  prototype.destroy = function () {
    watch.remove(this);
    destroy.call(this);
  };
}

/** Ends the requests of all connections that have waited for their answers for too long. */
class TimeoutWatch {
  private readonly queues = new Set<RequestQueue>();
  private timer: NodeJS.Timeout | undefined;

  add(queue: RequestQueue): void {
    this.queues.add(queue);
    this.timer ??= setInterval(() => {
      this.check();
    }, CHECK_MS);
  }

  remove(queue: RequestQueue): void {
    this.queues.delete(queue);
    if (this.queues.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private check(): void {
    for (const queue of this.queues) {
      for (const request of queue.inflight.values()) {
        if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
      }
      if (!queue.isConnected()) queue.destroy();
    }
  }
}
