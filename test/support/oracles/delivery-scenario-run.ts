import { expect, inject } from 'vitest';
import type { DeliveryAttempt } from '../../../schemas/messages/delivery-attempt.ts';
import type { DeliveryLogEntry } from '../../../schemas/api/delivery-log.ts';
import { MONITOR_DELIVERIES } from '../../../schemas/messages/topics.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { MAX_RETRY_AFTER_MS } from '../../../shared/domain/webhooks/delivery-outcome.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { blankMatchedItems } from '../../../shared/stores/crawl/removals.ts';
import { DELIVERY_SCENARIOS } from '../../integration/deliveries/scenarios.cases.ts';
import type { Answer, DeliveryScenario } from '../../integration/deliveries/scenarios.cases.ts';
import { passDeliveryTime } from '../fixtures/deliveries/delivery-clock.ts';
import { DeliveryBench } from '../fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../fixtures/eventually.ts';
import { freePort } from '../fixtures/free-port.ts';
import '../runner/provided-context.ts';
import { startScriptedEndpoint } from '../fakes/scripted-endpoint.ts';
import type { EndpointRequest, ScriptedEndpoint } from '../fakes/scripted-endpoint.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';
import { startTestApi } from '../fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../fixtures/test-api.ts';

/** Long enough for every endpoint that answers; the one that never does takes so long. */
const DEADLINE_MS = 3_000;
/** The middle of the 10 % that may be added. */
const MIDDLE = 0.5;

export interface ScenarioDelivery extends DeliveryScenario {
  /** Of its monitor, which has this one match. */
  id: string;
  /** That its receiver knows at first. */
  secret: string;
  /** What the owner's request between the attempts answered. */
  answered: Record<string, unknown>;
}

export interface StoredAttempt extends Omit<DeliveryLogEntry, 'match_id' | 'started_at' | 'next_attempt_at'> {
  monitor_id: string;
  started_at: Date;
  next_attempt_at: Date | null;
}

/**
 * Runs all scenarios of the case table side by side with one deliverer, from the first attempt to the last.
 */
export class DeliveryScenarioRun {
  readonly bench: DeliveryBench;
  readonly api: TestApi;
  readonly owner: TestAccount;
  /** Answers each row's requests by its script. */
  readonly scripted: ScriptedEndpoint;
  /** Answers 204. */
  readonly other: ScriptedEndpoint;
  readonly begun: Date;
  private readonly runs = new Map<string, ScenarioDelivery>();
  private readonly attempts = new Map<string, StoredAttempt[]>();
  /** By monitor. */
  private readonly published = new Map<string, DeliveryAttempt[]>();

  private constructor(parts: Pick<DeliveryScenarioRun, 'bench' | 'api' | 'owner' | 'scripted' | 'other' | 'begun'>) {
    this.bench = parts.bench;
    this.api = parts.api;
    this.owner = parts.owner;
    this.scripted = parts.scripted;
    this.other = parts.other;
    this.begun = parts.begun;
  }

  /** Runs the scenarios; takes about ten seconds. */
  static async create(): Promise<DeliveryScenarioRun> {
    const bench = await DeliveryBench.create();
    const api = await startTestApi(bench.db.pool, { allowPrivate: true, lookup });
    const owner = await api.account({ credits: 10_000 });
    // HTTP dates name whole seconds.
    const now = Math.floor(Date.now() / 1_000) * 1_000;
    const scripted = await startScriptedEndpoint(scriptedAnswers(), () => now);
    const other = await startScriptedEndpoint(() => 204);
    await bench.db.freeze();
    const { rows } = await bench.db.pool.query<{ now: Date }>('SELECT service_now() AS now');
    const deliveries = new DeliveryScenarioRun({ bench, api, owner, scripted, other, begun: rows[0]!.now });
    for (const [index, scenario] of DELIVERY_SCENARIOS.entries()) await deliveries.prepare(index, scenario);
    // The process's own clock passes the longest hold of a URL whenever the database's clock moves on.
    let passedMs = 0;
    const monotonic = () => performance.now() + passedMs;
    const timing = { clock: () => now, monotonic, random: () => MIDDLE, deadlineMs: DEADLINE_MS };
    await bench.startDeliverer({ secretBox: api.secretBox, lookup, ...timing });
    await passDeliveryTime(bench.db.pool, async (moves) => {
      passedMs += MAX_RETRY_AFTER_MS;
      if (moves > 0) return;
      for (const scenario of deliveries.runs.values()) scenario.answered = await deliveries.intervene(scenario);
    });
    await deliveries.readAttempts();
    await deliveries.readPublished();
    return deliveries;
  }

  of(name: string): ScenarioDelivery {
    return this.runs.get(name)!;
  }

  /** As they are stored, the first one first. */
  attemptsOf(name: string): StoredAttempt[] {
    return this.attempts.get(this.of(name).id) ?? [];
  }

  /** As they came on monitor.deliveries. */
  publishedOf(name: string): DeliveryAttempt[] {
    return this.published.get(this.of(name).id) ?? [];
  }

  /**
   * What endpoints received under the id of the row's match: chat messages have none, and tests sent by its owner
   * another.
   */
  receivedOf(name: string): EndpointRequest[] {
    const match = matchId(this.of(name).id, 1);
    const all = [...this.scripted.received, ...this.other.received];
    return all.filter(({ headers }) => headers['x-service-delivery'] === match);
  }

  /** What its endpoints received, except tests sent by its owner. */
  requestsOf(name: string): EndpointRequest[] {
    const own = [String(DELIVERY_SCENARIOS.findIndex((scenario) => scenario.name === name)), this.of(name).id];
    const all = [...this.scripted.received, ...this.other.received];
    return all.filter(
      ({ path, headers }) => own.includes(path.split(/[/?]/)[1]!) && headers['x-service-test'] === undefined,
    );
  }

  async drop(): Promise<void> {
    await this.bench.reset();
    await this.scripted.stop();
    await this.other.stop();
    await this.api.stop();
    await this.bench.db.drop();
  }

  private async endpointOf(index: number, { endpoint }: DeliveryScenario): Promise<string> {
    if (endpoint === 'port that nobody listens on') return `http://127.0.0.1:${await freePort()}/`;
    if (endpoint === 'name that does not resolve') return 'http://receiver.invalid/';
    const url = `${this.scripted.url}/${index}`;
    return endpoint === 'https on a port that speaks http' ? url.replace('http:', 'https:') : url;
  }

  private async prepare(index: number, scenario: DeliveryScenario): Promise<void> {
    const reply = await this.api.call(this.owner.apiKey, 'POST', '/v1/monitors', {
      name: 'metals',
      keywords: ['rust'],
      webhook_url: await this.endpointOf(index, scenario),
      ...(scenario.kind ? { webhook_kind: scenario.kind } : {}),
    });
    expect(reply.status).toBe(201);
    const { id } = reply.body.monitor as { id: string };
    await this.bench.addMatches(id, 1);
    // A thing of its own, so that its removal is seen by no other match.
    await this.bench.db.pool.query(
      `INSERT INTO matched_items SELECT (jsonb_populate_record(i, jsonb_build_object('thing_id', 't3_of' || $1::text))).*
     FROM matched_items i WHERE thing_id = 't3_1'`,
      [String(index)],
    );
    await this.bench.db.pool.query(`UPDATE matches SET thing_id = 't3_of' || $2::text WHERE monitor_id = $1`, [
      id,
      String(index),
    ]);
    this.runs.set(scenario.name, { ...scenario, id, secret: reply.body.webhook_secret as string, answered: {} });
  }

  private async intervene({ id, meanwhile }: ScenarioDelivery): Promise<Record<string, unknown>> {
    if (meanwhile === undefined) return {};
    if (typeof meanwhile === 'string') {
      const { rows } = await this.bench.db.pool.query<{ thing_id: string }>(
        'SELECT thing_id FROM matches WHERE monitor_id = $1',
        [id],
      );
      await blankMatchedItems(this.bench.db.pool, [rows[0]!.thing_id]);
      return {};
    }
    const { method, path = '', body } = meanwhile;
    const filled = body?.webhook_url === '<other receiver>' ? { webhook_url: `${this.other.url}/${id}` } : body;
    const reply = await this.api.call(this.owner.apiKey, method, `/v1/monitors/${id}${path}`, filled);
    expect(reply.status).toBe(200);
    return reply.body;
  }

  private async readAttempts(): Promise<void> {
    const { rows } = await this.bench.db.pool.query<StoredAttempt>(
      `SELECT monitor_id, attempt, started_at, duration_ms, webhook_kind, host, status, error, response_excerpt, delivery_status,
       next_attempt_at
     FROM delivery_attempts ORDER BY monitor_id, seq, attempt`,
    );
    for (const row of rows) this.attempts.set(row.monitor_id, [...(this.attempts.get(row.monitor_id) ?? []), row]);
  }

  /** Everything on monitor.deliveries, once as much has come as was stored. */
  private async readPublished(): Promise<void> {
    const stored = [...this.attempts.values()].flat().length;
    let count = 0;
    const brokers = inject('kafkaBrokers').replace('kafka://', '').split(',');
    const consumer = await startBatchConsumer({
      kafka: createKafka({ brokers, clientId: 'test', logger: silentLogger() }),
      prefix: this.bench.prefix,
      group: 'reads-deliveries',
      topics: [MONITOR_DELIVERIES.name],
      metrics: createMetrics(),
      logger: silentLogger(),
      fatal: (error) => this.bench.fatal.push(error),
      handle: (batch) => {
        for (const { value, key } of batch.records) {
          const attempt = MONITOR_DELIVERIES.schema.parse(JSON.parse(value.toString()));
          expect(key).toBe(attempt.monitor_id);
          this.published.set(attempt.monitor_id, [...(this.published.get(attempt.monitor_id) ?? []), attempt]);
          count++;
        }
        return Promise.resolve({});
      },
    });
    await eventually('all attempts are on monitor.deliveries', () => count >= stored);
    await consumer.stop();
  }
}

function lookup(name: string): Promise<string[]> {
  return name.endsWith('.invalid') ? Promise.reject(new Error('no such name')) : Promise.resolve(['127.0.0.1']);
}

/** The first segment of a path is the number of a row; each request takes the row's next answer. */
function scriptedAnswers(): (request: EndpointRequest) => Answer {
  const answered = new Map<string, number>();
  return ({ path }) => {
    const row = path.split(/[/?]/)[1]!;
    const { answers } = DELIVERY_SCENARIOS[Number(row)]!;
    const count = answered.get(row) ?? 0;
    answered.set(row, count + 1);
    return answers[Math.min(count, answers.length - 1)]!;
  };
}
