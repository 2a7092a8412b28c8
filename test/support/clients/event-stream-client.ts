import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { EventStreamParser } from './event-stream-parser.ts';
import type { StreamEvent } from './event-stream-parser.ts';

/** A client of server-sent events that exposes what it received and can stop reading. */
export class EventStreamClient {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly parser = new EventStreamParser();
  private readonly response: IncomingMessage;
  private readonly ended: Promise<void>;
  private isEnded = false;

  private constructor(response: IncomingMessage) {
    this.response = response;
    this.status = response.statusCode!;
    this.headers = response.headers;
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    response.on('data', (bytes: Buffer) => {
      if (isStream) this.parser.push(bytes);
    });
    response.on('error', () => undefined);
    this.ended = new Promise((resolve) =>
      response.once('close', () => {
        this.isEnded = true;
        resolve();
      }),
    );
  }

  static async open(url: string, key: string, headers: Record<string, string> = {}): Promise<EventStreamClient> {
    const asking = request(url, { agent: false, headers: { authorization: `Bearer ${key}`, ...headers } });
    asking.end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    return new EventStreamClient(response);
  }

  get events(): readonly StreamEvent[] {
    return this.parser.events;
  }

  /** The numbers of the received matches, in order of arrival. */
  get seqs(): number[] {
    return this.events.filter(({ type }) => type === 'match').map(({ id }) => Number(id.slice(-12)));
  }

  /** Whether the server ended the stream cleanly instead of cutting it off. */
  get isComplete(): boolean {
    return this.response.complete;
  }

  /** Waits for this number of events. @throws Error if the stream ends before, or after 60 s */
  async until(events: number): Promise<void> {
    const deadline = Date.now() + 60_000;
    while (this.events.length < events) {
      if (this.isEnded) throw new Error(`the stream ended after ${this.events.length} of ${events} events`);
      if (Date.now() > deadline) throw new Error(`${this.events.length} of ${events} events came`);
      await wait(5);
    }
  }

  /** Stops reading from the connection. */
  stopReading(): void {
    this.response.pause();
  }

  readOn(): void {
    this.response.resume();
  }

  /** Resolves when the other side, or this one, closed it. */
  closed(): Promise<void> {
    return this.ended;
  }

  async close(): Promise<void> {
    this.response.destroy();
    await this.ended;
  }
}
