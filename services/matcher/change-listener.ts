import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { MONITOR_CHANGED_CHANNEL } from '../../schemas/notifications.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

const ECHO_EVERY_MS = 2_000;
const DEAF_AFTER_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;

export interface ChangeListenerOptions {
  postgresUrl: string;
  logger: Logger;
  clock: Clock;
  /** A monitor's state or rule changed. */
  onChange: (monitorId: string) => void;
  /** Changes may have been missed since a while ago: nothing may be matched until onHearing. */
  onDeaf: () => void;
  /** A new connection hears; what changed before it did has to be found by comparison. */
  onHearing: () => void;
}

/**
 * Listens for changed monitors on a connection of its own, and proves that it hears: every 2 s it notifies itself on the
 * same channel. A connection is unproven until its first echo (then onHearing), also after a short loss that never made the
 * listener deaf. Without an echo for 5 s the listener is deaf (onDeaf), and the connection is thrown away for a new one.
 */
export class ChangeListener implements Running {
  private readonly options: ChangeListenerOptions;
  private readonly echo = `echo:${randomUUID()}`;
  private client: pg.Client | undefined;
  private connecting = false;
  private heardAt: number;
  private proven = false;
  private deaf = true;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: ChangeListenerOptions) {
    this.options = options;
    this.heardAt = options.clock();
  }

  /** Starts listening; onHearing follows when the first echo is back. */
  start(): void {
    this.tick();
    this.timer = setInterval(() => {
      this.tick();
    }, ECHO_EVERY_MS);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.client?.end().catch(() => undefined);
  }

  isHearing(): boolean {
    return this.proven && !this.deaf;
  }

  private tick(): void {
    if (this.stopped) return;
    if (this.options.clock() - this.heardAt > DEAF_AFTER_MS) this.fallDeaf();
    const { client } = this;
    if (!client) void this.connect();
    // An unanswered query may wait for ever on a silent connection: the echo's absence is what counts.
    else client.query('SELECT pg_notify($1, $2)', [MONITOR_CHANGED_CHANNEL, this.echo]).catch(() => undefined);
  }

  private fallDeaf(): void {
    if (this.client) this.discard(this.client);
    if (this.deaf) return;
    this.deaf = true;
    this.options.logger.warn('changes of monitors are not heard; matching waits');
    this.options.onDeaf();
  }

  private discard(client: pg.Client): void {
    if (this.client === client) {
      this.client = undefined;
      this.proven = false;
    }
    client.removeAllListeners('notification');
    client.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    if (this.connecting) return;
    this.connecting = true;
    const client = new pg.Client({
      connectionString: this.options.postgresUrl,
      application_name: 'matcher-listener',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', (error) => {
      this.options.logger.warn({ err: error }, 'the connection that listens for changes was lost');
      this.discard(client);
    });
    client.on('notification', ({ payload = '' }) => {
      this.heard(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${MONITOR_CHANGED_CHANNEL}`);
      this.client = client;
      await client.query('SELECT pg_notify($1, $2)', [MONITOR_CHANGED_CHANNEL, this.echo]);
    } catch (error) {
      this.options.logger.debug({ err: error }, 'cannot listen for changes yet');
      this.discard(client);
    } finally {
      this.connecting = false;
      if (this.stopped) this.discard(client);
    }
  }

  private heard(payload: string): void {
    if (payload.startsWith('echo:')) {
      if (payload !== this.echo) return;
      this.heardAt = this.options.clock();
      if (this.proven) return;
      this.proven = true;
      this.deaf = false;
      this.options.onHearing();
    } else {
      this.options.onChange(payload);
    }
  }
}
