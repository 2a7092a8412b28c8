import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject } from 'vitest';
import { MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../schemas/topics.ts';
import { startDeliverer } from '../../services/deliverer/start-deliverer.ts';
import type { Deliverer, DelivererDeps } from '../../services/deliverer/start-deliverer.ts';
import { newAccountId, newMonitorId } from '../../shared/domain/identifiers.ts';
import { createSecretBox } from '../../shared/domain/secret-box.ts';
import { newWebhookSecret } from '../../shared/domain/webhook-secret.ts';
import { createKafka } from '../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../shared/kafka/publisher.ts';
import { ensureTopics } from '../../shared/kafka/topic-admin.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import './provided-context.ts';
import { eventually } from './eventually.ts';
import { recordedMatch } from './recorded-match.ts';
import { silentLogger } from './silent-logger.ts';
import { createTestDatabase } from './test-database.ts';
import type { TestDatabase } from './test-database.ts';
import { uniquePrefix } from './unique-prefix.ts';

export const secretBox = createSecretBox('a secret key of the tests, long enough');

export interface MatchState {
  seq: number;
  delivery_status: string;
  attempt: number;
  ladder_step: number;
  /** Seconds from now (service time) to the next attempt. */
  due_in: number | null;
  is_leased: boolean;
  is_delivered: boolean;
}

/** An installation's part that the deliverer sees: database, topics, monitors and matches; several deliverers may run on it. */
export class DeliveryBench {
  readonly db: TestDatabase;
  readonly prefix = uniquePrefix();
  metrics = createMetrics();
  readonly fatal: Error[] = [];
  private readonly kafka = createKafka({
    brokers: inject('kafkaBrokers').replace('kafka://', '').split(','),
    clientId: 'test',
    logger: silentLogger(),
  });
  private readonly cleanups: (() => Promise<unknown>)[] = [];

  private constructor(db: TestDatabase) {
    this.db = db;
  }

  static async create(): Promise<DeliveryBench> {
    const bench = new DeliveryBench(await createTestDatabase());
    await ensureTopics(bench.kafka, {
      prefix: bench.prefix,
      embedded: true,
      topics: [MONITOR_MATCHES, MONITOR_DELIVERIES],
    });
    return bench;
  }

  /** After each test: deliverers and receivers stopped, the clock right again, nothing pending, metrics at zero. */
  async reset(): Promise<void> {
    for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup();
    await this.db.setShift('0');
    await this.db.pool.query(`UPDATE matches SET delivery_status = 'skipped' WHERE delivery_status = 'pending'`);
    this.metrics = createMetrics();
    const [fatal] = this.fatal.splice(0);
    if (fatal) throw fatal;
  }

  private shared() {
    return { prefix: this.prefix, metrics: this.metrics, logger: silentLogger() };
  }

  /** Stopped by close() unless stopped before. Private addresses are allowed unless said otherwise. */
  async startDeliverer(deps: Partial<DelivererDeps> = {}): Promise<Deliverer> {
    const deliverer = await startDeliverer({
      ...this.shared(),
      kafka: this.kafka,
      pool: this.db.pool,
      webhooks: { allowPrivate: true, egressProxy: undefined },
      secretBox,
      fatal: (error) => this.fatal.push(error),
      ...deps,
    });
    let stopping: Promise<void> | undefined;
    const stop = () => (stopping ??= deliverer.stop());
    this.cleanups.push(stop);
    await eventually('the deliverer has joined', () => deliverer.ready());
    return { ready: () => deliverer.ready(), stop };
  }

  /** A real receiver on loopback; `answer` may keep a request waiting for ever. */
  async startReceiver(answer: (webhook: ReceivedDelivery, response: ServerResponse) => void): Promise<TestReceiver> {
    const received: ReceivedDelivery[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const webhook = { headers: request.headers, body: Buffer.concat(chunks), path: request.url ?? '' };
        received.push(webhook);
        answer(webhook, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.cleanups.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
  }

  /** A monitor as create leaves it; returns its id and the secret its receiver knows. */
  async addMonitor(webhookUrl: string | null, kind = 'generic'): Promise<{ id: string; secret: string }> {
    const [account, id, secret] = [newAccountId(), newMonitorId(), newWebhookSecret()];
    await this.db.pool.query('INSERT INTO accounts (id, email, mailbox) VALUES ($1, $1, $1)', [account]);
    await this.db.pool.query(
      `INSERT INTO monitors (id, account_id, name, keywords, webhook_url, webhook_kind, webhook_secret, active_since,
         next_charge_at)
       VALUES ($1, $2, 'metals', '{rust}', $3, $4, $5, wall_now(), service_now() + interval '1 day')`,
      [id, account, webhookUrl, webhookUrl === null ? null : kind, secretBox.seal(secret, id)],
    );
    return { id, secret };
  }

  /** Pending matches with seqs 1 to `count`, as the recorder stores them. @param dueIn when the poller may take them */
  async addMatches(monitorId: string, count: number, dueIn = '0 s'): Promise<void> {
    await this.db.pool.query(
      `INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc,
         kept_until)
       SELECT 't3_' || seq, 'post', seq::text, 'metals', 'smith', 'On rust', 'Iron and naïve 水 make rust.',
         'https://forum.example/r/metals/comments/' || seq || '/', false, service_now(), service_now() + interval '33 days'
       FROM generate_series(1, $1::int) AS seq
       ON CONFLICT DO NOTHING`,
      [count],
    );
    await this.db.pool.query(
      `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
         suppressed, first_delivery, delivery_status, next_attempt_at)
       SELECT $1, seq, 't3_' || seq, 'post', wall_now(), wall_now(), service_now(), '{rust}', false, 'pending', 'pending',
         service_now() + $3::interval
       FROM generate_series(1, $2::int) AS seq`,
      [monitorId, count, dueIn],
    );
  }

  /** Publishes matches as the recorder does after its commit. */
  async publishHints(monitorId: string, seqs: readonly number[]): Promise<void> {
    const publisher = await createPublisher({ ...this.shared(), kafka: this.kafka });
    const records = seqs.map((seq) => ({ key: monitorId, value: JSON.stringify(recordedMatch(monitorId, seq)) }));
    await publisher.publish(MONITOR_MATCHES.name, records);
    await publisher.stop();
  }

  async states(monitorId: string): Promise<MatchState[]> {
    const { rows } = await this.db.pool.query<MatchState>(
      `SELECT seq, delivery_status, attempt, ladder_step,
         extract(epoch FROM next_attempt_at - (SELECT service_now()))::float8 AS due_in,
         lease_until > (SELECT service_now()) IS TRUE AS is_leased, delivered_at IS NOT NULL AS is_delivered
       FROM matches WHERE monitor_id = $1 ORDER BY seq`,
      [monitorId],
    );
    return rows;
  }

  /** The state of the monitor's first match once `condition` holds for it. */
  firstState(monitorId: string, condition: (state: MatchState) => boolean): Promise<MatchState> {
    return eventually('the match reaches its state', async () => {
      const [state] = await this.states(monitorId);
      return state !== undefined && condition(state) && state;
    });
  }

  /** Waits until none of the monitor's matches is pending; returns their states' names. */
  settled(monitorId: string): Promise<string[]> {
    return eventually('all matches are settled', async () => {
      const names = (await this.states(monitorId)).map((state) => state.delivery_status);
      return !names.includes('pending') && names;
    });
  }
}

export interface ReceivedDelivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
  path: string;
}

export interface TestReceiver {
  url: string;
  received: ReceivedDelivery[];
}
