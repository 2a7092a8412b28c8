import { createRequire } from 'node:module';

/** The requests of one connection. */
interface RequestQueue {
  /** Wait to be sent, while a broker slows this client down. */
  readonly pending: { readonly length: number };
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

let isDone = false;

/**
 * Mends a timer of kafkajs 2.2.4, which kept a process busy that had nothing to do: after its first answer a connection
 * looked once a millisecond for requests that wait to be sent, for ever. Now it looks only while there are any. A
 * process with all services has some 40 connections.
 *
 * @throws Error when the installed kafkajs is not built like that version
 */
export function mendRequestTimers(): void {
  if (isDone) return;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as {
    prototype: Partial<RequestQueue>;
  };
  const { scheduleCheckPendingRequests } = prototype;
  if (!scheduleCheckPendingRequests) {
    throw new Error('the RequestQueue of kafkajs has other methods: request-timers.ts mends 2.2.4, check it again');
  }
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
  isDone = true;
}
