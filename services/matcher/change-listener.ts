import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { MONITOR_CHANGED_CHANNEL } from '../../schemas/messages/topics.ts';
import { clientClassOf, PostgresServers } from '../../shared/postgres/postgres-servers.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

const ECHO_INTERVAL_MS = 2_000;
const LOST_AFTER_MS = 5_000;
/** Timeout of a statement, and of the first echo: on a frozen connection it would never end. */
const RESPONSE_TIMEOUT_MS = 10_000;
/** A new connection takes three answers, and more with TLS; a server that is slow gives each only after seconds. */
const CONNECT_TIMEOUT_MS = 15_000;

export interface ChangeListenerDeps {
  postgresUrl: string;
  logger: Logger;
  /** Milliseconds since any moment, by a clock that is never set. */
  clock: Clock;
  /** A monitor's state or rule changed. */
  onChange: (monitorId: string) => void;
  /** No echo for 5 s, so changes may have been missed. The caller must stop matching until `onConnected`. */
  onLost: () => void;
  /** A new connection receives notifications. The caller must find earlier changes by a full comparison. */
  onConnected: () => void;
}

/**
 * Listens for changed monitors (Postgres LISTEN) on its own connection and verifies that the connection works.
 *
 * Every 2 s the listener notifies itself on the same channel, or once the last echo has come: a server that takes
 * longer for each answer is slow, and its connection works. Postgres delivers notifications in commit order, so the
 * echo confirms that every change committed before it was sent has arrived. When the last echo came more than 5 s ago,
 * the listener reports `onLost`: a change then waits for no longer than 5 s and one answer, far less than recent items
 * are kept.
 *
 * A connection is unverified until its first echo, which is reported as `onConnected`. This also applies after an
 * interruption too short for `onLost`. A verified connection without an echo for 5 s is replaced.
 *
 * After: `MonitorChanges` reads the announced monitors. A crash misses notifications; the next start loads all
 * monitors.
 */
export class ChangeListener implements Running {
  private readonly options: ChangeListenerDeps;
  /** Connects to the primary among the servers. */
  private readonly Client: typeof pg.Client;
  private readonly echo = `echo:${randomUUID()}`;
  private client: pg.Client | undefined;
  private connecting: pg.Client | undefined;
  private connectedAtMs = 0;
  /** When the last echo came; at first, when this was made. */
  private echoedAtMs: number;
  /** When the echo was sent that has not come yet. */
  private askedAtMs: number | undefined;
  private isVerified = false;
  private isLost = true;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: ChangeListenerDeps) {
    this.options = options;
    this.Client = clientClassOf(new PostgresServers(options.postgresUrl));
    this.echoedAtMs = options.clock();
  }

  /** Starts listening; `onConnected` follows with the first echo. */
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
    if (now - this.echoedAtMs > LOST_AFTER_MS) {
      if (this.client && (this.isVerified || now - this.connectedAtMs > RESPONSE_TIMEOUT_MS)) this.discard(this.client);
      this.reportLost();
    }
    if (this.client === undefined) {
      if (!this.connecting) void this.connect();
    } else if (this.askedAtMs === undefined) this.sendEcho(this.client);
  }

  private reportLost(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.options.logger.warn('the connection for monitor changes does not respond; matching is paused');
    this.options.onLost();
  }

  /** Destroys the socket without closing the session: on a frozen connection that would never end. */
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
    const client = new this.Client({
      application_name: 'matcher-listener',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: RESPONSE_TIMEOUT_MS,
      keepAlive: true,
    });
    this.connecting = client;
    client.on('error', (error) => {
      this.options.logger.warn({ err: error }, 'the connection for monitor changes was lost');
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
      this.askedAtMs = undefined;
      this.connectedAtMs = this.options.clock();
      this.sendEcho(client);
    } catch (error) {
      this.options.logger.debug({ err: error }, 'cannot listen for monitor changes yet');
      this.discard(client);
    } finally {
      this.connecting = undefined;
    }
  }

  /** Errors are ignored: a missing echo is detected by time. One that came late is followed by another at once. */
  private sendEcho(client: pg.Client): void {
    const askedAt = this.options.clock();
    this.askedAtMs = askedAt;
    const ended = (): void => {
      if (this.client !== client || this.askedAtMs !== askedAt) return;
      this.askedAtMs = undefined;
      if (this.options.clock() - askedAt >= ECHO_INTERVAL_MS) this.sendEcho(client);
    };
    client.query('SELECT pg_notify($1, $2)', [MONITOR_CHANGED_CHANNEL, this.echo]).then(ended, ended);
  }

  private onNotification(client: pg.Client, payload: string): void {
    if (!payload.startsWith('echo:')) this.options.onChange(payload);
    else if (payload === this.echo && client === this.client) {
      this.echoedAtMs = this.options.clock();
      if (this.isVerified) return;
      this.isVerified = true;
      this.isLost = false;
      this.options.onConnected();
    }
  }
}
