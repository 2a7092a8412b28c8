import { inject } from 'vitest';
import { startArchiver } from '../../services/archiver/start-archiver.ts';
import { startDeliverer } from '../../services/deliverer/start-deliverer.ts';
import { startMatcher } from '../../services/matcher/start-matcher.ts';
import { startRecorder } from '../../services/recorder/start-recorder.ts';
import { TOPICS } from '../../schemas/topics.ts';
import { createClickhouse } from '../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../shared/clickhouse/migrate-clickhouse.ts';
import { createSystemLookup } from '../../shared/http/address-lookup.ts';
import { ensureTopics } from '../../shared/kafka/topic-admin.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { eventually } from './eventually.ts';
import { createKafkaFixture } from './kafka-fixture.ts';
import type { KafkaFixture } from './kafka-fixture.ts';
import './provided-context.ts';
import { silentLogger } from './silent-logger.ts';
import { startTestApi } from './test-api.ts';
import type { TestApi } from './test-api.ts';
import { createTestClickhouse } from './test-clickhouse.ts';
import { createTestDatabase } from './test-database.ts';
import type { TestDatabase } from './test-database.ts';

type Stage = 'matcher' | 'recorder' | 'deliverer' | 'archiver';

/** The stages behind Kafka and the API, on databases and topics of one test file. */
export class Pipeline {
  readonly db: TestDatabase;
  readonly kafka: KafkaFixture;
  readonly api: TestApi;
  readonly clickhouse: ClickHouseClient;
  readonly clickhouseUrl: string;
  private readonly dropClickhouse: () => Promise<void>;
  private readonly running: Running[] = [];

  private constructor(
    parts: Pick<Pipeline, 'db' | 'kafka' | 'api' | 'clickhouse' | 'clickhouseUrl'>,
    dropClickhouse: () => Promise<void>,
  ) {
    this.db = parts.db;
    this.kafka = parts.kafka;
    this.api = parts.api;
    this.clickhouse = parts.clickhouse;
    this.clickhouseUrl = parts.clickhouseUrl;
    this.dropClickhouse = dropClickhouse;
  }

  static async create(): Promise<Pipeline> {
    const db = await createTestDatabase();
    const kafka = await createKafkaFixture(inject('kafkaBrokers'));
    await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
    const archive = await createTestClickhouse();
    const clickhouse = createClickhouse(archive.url, 'test');
    await migrateClickhouse(clickhouse, db.pool, silentLogger());
    const api = await startTestApi(db.pool, { allowPrivate: true, lookup: createSystemLookup() });
    return new Pipeline({ db, kafka, api, clickhouse, clickhouseUrl: archive.url }, async () => {
      await clickhouse.close();
      await archive.drop();
    });
  }

  /** Starts stages in this process and waits until they are ready. */
  async start(...stages: Stage[]): Promise<void> {
    const { kafka, publisher, prefix, metrics, fatal } = this.kafka;
    const { pool } = this.db;
    const deps = { kafka, publisher, prefix, metrics, fatal, pool, logger: silentLogger(), toleranceMs: 0 };
    for (const stage of stages) {
      const started = await {
        matcher: () => startMatcher({ ...deps, postgresUrl: this.db.url }),
        recorder: () => startRecorder(deps),
        deliverer: () =>
          startDeliverer({
            ...deps,
            webhooks: { allowPrivate: true, egressProxy: undefined },
            secretBox: this.api.secretBox,
          }),
        archiver: () => startArchiver({ ...deps, clickhouse: this.clickhouse }),
      }[stage]();
      this.running.push(started);
      await eventually(`the ${stage} is ready`, () => started.ready());
    }
  }

  /** Stops the stage that was started last. */
  async stopLast(): Promise<void> {
    await this.running.pop()?.stop();
  }

  async drop(): Promise<void> {
    for (const part of this.running.reverse()) await part.stop();
    await this.api.stop();
    await this.kafka.drop();
    await this.dropClickhouse();
    await this.db.drop();
  }
}
