import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { MONITOR_CHANGED_CHANNEL } from '../../schemas/messages/notifications.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

const ECHO_INTERVAL_MS = 2_000;
const LOST_AFTER_MS = 5_000;
/** For connecting, and for each statement: on a connection that froze none of them ever ends by itself. */
const RESPONSE_TIMEOUT_MS = 3_000;

export interface ChangeListenerDeps {
  postgresUrl: string;
  logger: Logger;
  clock: Clock;
  /** A monitor's state or rule changed. */
  onChange: (monitorId: string) => void;
  /** Changes may have been missed since a while ago: nothing may be matched until onHearing. */
  onLost: () => void;
  /** A new connection hears; what changed before it did has to be found by comparison. */
  onConnected: () => void;
}

/**
 * Listens for changed monitors on a connection of its own, and proves that it hears: every 2 s it notifies itself on
 * the same channel. Notifications keep the order of their commits, so an echo proves that all was heard up to the
 * moment in which it was sent. When that moment is 5 s ago, the listener is deaf (onDeaf).
 *
 * A connection is unproven until its first echo (then onHearing), also after a short loss that never made the listener
 * deaf. One without an echo for 5 s is thrown away for a new one.
 */
export class ChangeListener implements Running {
  private readonly options: ChangeListenerDeps;
  private readonly echoPrefix = `echo:${randomUUID()}:`;
  private client: pg.Client | undefined;
  private connecting: pg.Client | undefined;
  private connectedAtMs = 0;
  /** Everything committed until then was heard. */
  private confirmedUntilMs: number;
  private isVerified = false;
  private isLost = true;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: ChangeListenerDeps) {
    this.options = options;
    this.confirmedUntilMs = options.clock();
  }

  /** Starts listening; onHearing follows when the first echo is back. */
  start(): void {
    this.tick();
    this.timer = setInterval(() => {
      this.tick();
    }, ECHO_INTERVAL_MS);
  }

  stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    for (const client of [this.client, this.connecting]) if (client) this.discard(client);
    return Promise.resolve();
  }

  isConnected(): boolean {
    return this.isVerified && !this.isLost;
  }

  private tick(): void {
    const now = this.options.clock();
    if (now - this.confirmedUntilMs > LOST_AFTER_MS) {
      // A new connection gets as long to prove itself.
      if (this.client && now - this.connectedAtMs > LOST_AFTER_MS) this.discard(this.client);
      this.reportLost();
    }
    if (this.client) this.sendEcho(this.client);
    else if (!this.connecting) void this.connect();
  }

  private reportLost(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.options.logger.warn('changes of monitors are not heard; matching waits');
    this.options.onLost();
  }

  /** Without a farewell: on a frozen connection that would wait for ever too. */
  private discard(client: pg.Client): void {
    if (this.client === client) {
      this.client = undefined;
      this.isVerified = false;
    }
    client.removeAllListeners();
    client.on('error', () => undefined);
    client.connection.stream.destroy();
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.options.postgresUrl,
      application_name: 'matcher-listener',
      connectionTimeoutMillis: RESPONSE_TIMEOUT_MS,
      query_timeout: RESPONSE_TIMEOUT_MS,
      keepAlive: true,
    });
    this.connecting = client;
    client.on('error', (error) => {
      this.options.logger.warn({ err: error }, 'the connection that listens for changes was lost');
      this.discard(client);
    });
    client.on('notification', ({ payload = '' }) => {
      this.onNotification(client, payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${MONITOR_CHANGED_CHANNEL}`);
      if (this.stopped) return;
      this.client = client;
      this.connectedAtMs = this.options.clock();
      this.sendEcho(client);
    } catch (error) {
      this.options.logger.debug({ err: error }, 'cannot listen for changes yet');
      this.discard(client);
    } finally {
      this.connecting = undefined;
    }
  }

  /** A failure needs no answer: the echo's absence is what counts. */
  private sendEcho(client: pg.Client): void {
    const echo = this.echoPrefix + String(this.options.clock());
    client.query('SELECT pg_notify($1, $2)', [MONITOR_CHANGED_CHANNEL, echo]).catch(() => undefined);
  }

  private onNotification(client: pg.Client, payload: string): void {
    if (!payload.startsWith('echo:')) this.options.onChange(payload);
    else if (payload.startsWith(this.echoPrefix) && client === this.client) {
      this.confirmedUntilMs = Math.max(this.confirmedUntilMs, Number(payload.slice(this.echoPrefix.length)));
      if (this.isVerified || this.options.clock() - this.confirmedUntilMs > LOST_AFTER_MS) return;
      this.isVerified = true;
      this.isLost = false;
      this.options.onConnected();
    }
  }
}
