import { expect } from 'vitest';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { startWebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { candidateOf } from '../fixtures/recorder-fixtures.ts';
import type { CandidateSetup } from '../fixtures/recorder-fixtures.ts';
import { startTestApi } from '../fixtures/test-api.ts';
import type { Body, TestAccount, TestApi, TestApiOptions } from '../fixtures/test-api.ts';
import { createTestDatabase } from '../fixtures/test-database.ts';
import type { TestDatabase } from '../fixtures/test-database.ts';
import { visitDashboard } from './dashboard-visitor.ts';
import type { DashboardVisitor, VisitedPage } from './dashboard-visitor.ts';

/** A text that would become markup or a script if a page did not escape it. */
export const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

export const isEscaped = ({ html }: VisitedPage): boolean =>
  !html.includes('<script>alert') && !html.includes('<img src=x');

/** An account whose owner looks at the pages of its monitors, and a receiver of its webhooks. */
export class MonitorPagesBench {
  readonly db: TestDatabase;
  readonly api: TestApi;
  readonly receiver: WebhookReceiver;
  /** The status of the receiver's answers. */
  answer = 204;
  owner!: TestAccount;
  person!: DashboardVisitor;
  /** Over all tests, because the first content of a thing is kept. */
  private things = 0;

  private constructor(db: TestDatabase, api: TestApi, receiver: WebhookReceiver) {
    this.db = db;
    this.api = api;
    this.receiver = receiver;
  }

  static async create(options: TestApiOptions = {}): Promise<MonitorPagesBench> {
    const db = await createTestDatabase();
    const receiver = await startWebhookReceiver(() => bench.answer);
    const api = await startTestApi(db.pool, { allowPrivate: true, ...options });
    const bench = new MonitorPagesBench(db, api, receiver);
    return bench;
  }

  async drop(): Promise<void> {
    await this.api.stop();
    await this.receiver.stop();
    await this.db.drop();
  }

  /** A new account, signed in. */
  async reset(): Promise<void> {
    this.answer = 204;
    this.owner = await this.api.account();
    this.person = await visitDashboard(this.db.pool, this.api.url, this.owner.accountId);
  }

  async monitor(body: object = {}): Promise<string> {
    return (await this.api.monitor(this.owner.apiKey, body)).id;
  }

  async read(id: string): Promise<Body> {
    return (await this.api.call(this.owner.apiKey, 'GET', `/v1/monitors/${id}`)).body.monitor as Body;
  }

  async balance(): Promise<unknown> {
    return (await this.api.call(this.owner.apiKey, 'GET', '/v1/account')).body.balance;
  }

  /** Records a match of a new thing. */
  async record(id: string, setup: Partial<CandidateSetup> & { kind?: 'post' } = {}): Promise<void> {
    const thingId = `${setup.kind === 'post' ? 't3' : 't1'}_${(this.things++).toString(36)}`;
    const candidate = candidateOf({ monitorId: id, thingId, ...setup });
    const { matches } = await recordBatch({ pool: this.db.pool, toleranceMs: 0 }, [candidate]);
    expect(matches).toHaveLength(1);
  }

  /** An attempt to deliver the first match that the receiver refused. */
  async failDelivery(id: string, excerpt: string): Promise<void> {
    await this.db.pool.query(
      `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
         error, response_excerpt, delivery_status)
       VALUES ($1, 1, 1, service_now(), 12, 'generic', 'host.example', 500, 'http_status', $2, 'failed')`,
      [id, excerpt],
    );
    await this.db.pool.query(`UPDATE matches SET delivery_status = 'failed' WHERE monitor_id = $1 AND seq = 1`, [id]);
  }
}
