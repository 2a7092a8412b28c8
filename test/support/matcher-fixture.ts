import type { Candidate } from '../../schemas/candidate.ts';
import { MATCHER_GROUP } from '../../schemas/consumer-groups.ts';
import { FORUM_COMMENTS, MONITOR_CANDIDATES, TOPICS } from '../../schemas/topics.ts';
import { startMatcher } from '../../services/matcher/start-matcher.ts';
import { consumerLag, ensureTopics } from '../../shared/kafka/topic-admin.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { eventually } from './eventually.ts';
import { commentItem } from './forum-items.ts';
import { createKafkaFixture } from './kafka-fixture.ts';
import type { KafkaFixture } from './kafka-fixture.ts';
import { insertMonitors } from './recorder-fixtures.ts';
import { silentLogger } from './silent-logger.ts';
import { createTestDatabase } from './test-database.ts';
import type { TestDatabase } from './test-database.ts';

export type Matcher = Awaited<ReturnType<typeof startMatcher>>;

/** Matchers on a database and topics of one test, and what they published. */
export class MatcherFixture {
  readonly db: TestDatabase;
  readonly kafka: KafkaFixture;
  private readonly read: Candidate[] = [];
  private readonly cleaning: (() => Promise<unknown>)[] = [];
  private comments = 0;

  private constructor(db: TestDatabase, kafka: KafkaFixture) {
    this.db = db;
    this.kafka = kafka;
  }

  static async create(): Promise<MatcherFixture> {
    const db = await createTestDatabase();
    const kafka = await createKafkaFixture();
    await ensureTopics(kafka.kafka, { prefix: kafka.prefix, embedded: true, topics: TOPICS });
    const fixture = new MatcherFixture(db, kafka);
    await fixture.readCandidates();
    return fixture;
  }

  /** Starts a matcher; ready when this resolves. */
  async start(options: { poolUrl?: string; listenerUrl?: string; clock?: Clock } = {}): Promise<Matcher> {
    const pool = createPool({ url: options.poolUrl ?? this.db.url, name: 'matcher', logger: silentLogger(), max: 2 });
    const matcher = await startMatcher({
      ...this.kafka,
      pool,
      postgresUrl: options.listenerUrl ?? this.db.url,
      toleranceMs: 0,
      logger: silentLogger(),
      ...(options.clock ? { clock: options.clock } : {}),
    });
    this.cleaning.push(() => pool.end());
    this.cleaning.push(() => matcher.stop());
    await eventually('the matcher is ready', () => matcher.ready());
    return matcher;
  }

  /** Publishes comments; answers their names. */
  async say(...texts: string[]): Promise<string[]> {
    const items = texts.map((body) => commentItem(this.comments++, body));
    const records = items.map((item) => ({ key: item.thing_id, value: JSON.stringify(item) }));
    await this.kafka.publisher.publish(FORUM_COMMENTS.name, records);
    return items.map(({ thing_id }) => thing_id);
  }

  /** An active monitor of the word "rust", since now, that no matcher is told of. */
  async createSilently(): Promise<string> {
    const { rows } = await this.db.pool.query<{ now: Date }>('SELECT wall_now() AS now');
    const [id] = await insertMonitors(this.db.pool, 1, { activeSince: rows[0]!.now.toISOString() });
    return id!;
  }

  /** Gives a monitor a new rule, from now on, and tells no matcher. */
  async changeSilently(id: string, keywords: string[]): Promise<void> {
    const { rows } = await this.db.pool.query<{ version: number }>(
      'UPDATE monitors SET keywords = $2, version = version + 1 WHERE id = $1 RETURNING version',
      [id, keywords],
    );
    await this.db.pool.query('INSERT INTO monitor_versions (monitor_id, version, since) VALUES ($1, $2, wall_now())', [
      id,
      rows[0]!.version,
    ]);
  }

  async announce(id: string): Promise<void> {
    await this.db.pool.query(`SELECT pg_notify('monitor_changed', $1)`, [id]);
  }

  /** The group's committed offset of each partition. */
  async committed(): Promise<Record<string, string>> {
    const topic = this.kafka.prefix + FORUM_COMMENTS.name;
    const [found] = await this.kafka.kafka.withAdmin((admin) =>
      admin.fetchOffsets({ groupId: this.kafka.prefix + MATCHER_GROUP, topics: [topic] }),
    );
    return Object.fromEntries(found!.partitions.map(({ partition, offset }) => [partition, offset]));
  }

  /** Waits until everything that was said is matched and committed. */
  async consumed(): Promise<void> {
    await eventually('everything is matched', async () => {
      const lags = await consumerLag(this.kafka.kafka, {
        prefix: this.kafka.prefix,
        group: MATCHER_GROUP,
        topics: [FORUM_COMMENTS.name],
      });
      return lags.every(({ lag }) => lag === 0);
    });
  }

  /** Every candidate that is published by now, as "monitor's version, thing", of one monitor, sorted. */
  async candidatesOf(monitorId: string): Promise<string[]> {
    const topic = this.kafka.prefix + MONITOR_CANDIDATES.name;
    await eventually('all candidates are read', async () => {
      const heads = await this.kafka.kafka.withAdmin((admin) => admin.fetchTopicOffsets(topic));
      return this.read.length >= heads.reduce((sum, { high }) => sum + Number(high), 0);
    });
    return this.read
      .filter(({ monitor_id }) => monitor_id === monitorId)
      .map(({ monitor_version, item }) => `${monitor_version} ${item.thing_id}`)
      .sort();
  }

  /** Waits until a monitor has exactly these candidates. */
  async expectCandidates(monitorId: string, expected: string[]): Promise<void> {
    await eventually('the candidates', async () => {
      const found = await this.candidatesOf(monitorId);
      if (found.join() !== expected.toSorted().join()) throw new Error(`found ${found.join(', ') || 'none'}`);
      return true;
    });
  }

  onDrop(clean: () => Promise<unknown>): void {
    this.cleaning.push(clean);
  }

  async drop(): Promise<void> {
    for (const clean of this.cleaning.reverse()) await clean();
    await this.kafka.drop();
    await this.db.drop();
  }

  private async readCandidates(): Promise<void> {
    const consumer = this.kafka.kafka.client.consumer({ groupId: `${this.kafka.prefix}reader`, maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topic: this.kafka.prefix + MONITOR_CANDIDATES.name, fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message }) => {
        this.read.push(JSON.parse(message.value!.toString()) as Candidate);
        return Promise.resolve();
      },
    });
    this.cleaning.push(() => consumer.disconnect());
  }
}
