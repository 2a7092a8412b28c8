import { setTimeout as wait } from 'node:timers/promises';
import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { FORUM_COMMENTS, MONITOR_CANDIDATES, MONITOR_CHANGED_CHANNEL } from '../../../schemas/messages/topics.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { commentItem } from '../../support/samples/forum-items.ts';
import type { Random } from '../shared/matcher-random.ts';
import { watchedWord } from './service-monitors.ts';

const TICK_MS = 20;
/** The share of items with a word that one monitor watches for. */
const WATCHED_SHARE = 0.1;

export interface TrafficOptions {
  kafka: KafkaFixture;
  db: Queryable;
  monitorIds: readonly string[];
  /** Of each monitor. */
  keywords: number;
  common: readonly string[];
  random: Random;
}

/** Publishes comments, changes rules, and reads the candidates of both. */
export class Traffic {
  private readonly options: TrafficOptions;
  private comments = 0;
  private changes = 0;
  /** By the name of a comment: when the change that it is to show was answered. */
  private readonly awaited = new Map<string, { monitorId: string; answeredAt: number }>();
  /** Milliseconds from the answer to a change until the candidate of a comment that was published right then. */
  readonly effectsMs: number[] = [];
  candidates = 0;

  constructor(options: TrafficOptions) {
    this.options = options;
  }

  /** Changes that have no effect yet. */
  get pending(): number {
    return this.awaited.size;
  }

  /** Reads candidates until the returned function is called. */
  async readCandidates(): Promise<() => Promise<void>> {
    const { kafka, prefix } = this.options.kafka;
    const consumer = kafka.client.consumer({ groupId: `${prefix}reader`, maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topic: prefix + MONITOR_CANDIDATES.name, fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message }) => {
        this.arrived(JSON.parse(message.value!.toString()) as Candidate);
        return Promise.resolve();
      },
    });
    return () => consumer.disconnect();
  }

  /** Generates comments and changes at these rates per second. */
  async flow(seconds: number, itemsPerSecond: number, changesPerSecond: number): Promise<void> {
    const begun = performance.now();
    const running: Promise<void>[] = [];
    let [items, changes] = [0, 0];
    for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - begun) / 1000) {
      const count = Math.floor(elapsed * itemsPerSecond) - items;
      if (count > 0) running.push(this.say(Array.from({ length: count }, () => this.text())));
      items += count;
      for (; changes < Math.floor(elapsed * changesPerSecond); changes++) running.push(this.changeRule());
      await wait(TICK_MS);
    }
    await Promise.all(running);
  }

  /** Gives a monitor a new word, and publishes a comment with the word as soon as the database has answered. */
  private async changeRule(): Promise<void> {
    const { db, monitorIds } = this.options;
    const number = this.changes++;
    // 7,919 is coprime to the number of monitors, so that consecutive changes are not neighbours in the table.
    const monitorId = monitorIds[(number * 7_919) % monitorIds.length]!;
    const word = `q${number.toString(36)}`;
    await db.query(
      `WITH changed AS (
         UPDATE monitors SET keywords = array_prepend($2, keywords[2:]), version = version + 1 WHERE id = $1
         RETURNING id, version),
       begun AS (
         INSERT INTO monitor_versions (monitor_id, version, since) SELECT id, version, wall_now() FROM changed)
       SELECT pg_notify($3, $1)`,
      [monitorId, word, MONITOR_CHANGED_CHANNEL],
    );
    const name = `t1_${this.comments.toString(36)}`;
    this.awaited.set(name, { monitorId, answeredAt: performance.now() });
    await this.say([word]);
  }

  private async say(texts: readonly string[]): Promise<void> {
    const records = texts.map((text) => {
      const item = commentItem(this.comments++, text);
      return { key: item.thing_id, value: JSON.stringify(item) };
    });
    await this.options.kafka.publisher.publish(FORUM_COMMENTS.name, records);
  }

  private text(): string {
    const { common, random, monitorIds, keywords } = this.options;
    // The square of a random number prefers the front, because frequent words occur more often.
    const words = Array.from({ length: 10 + Math.floor(random() * 20) }, () => {
      return common[Math.floor(random() ** 2 * common.length)]!;
    });
    // The first keyword of a monitor may have changed. The second one never changes and is not a phrase.
    if (random() < WATCHED_SHARE) words.push(watchedWord(Math.floor(random() * monitorIds.length) * keywords + 1));
    return words.join(' ');
  }

  private arrived({ monitor_id, item }: Candidate): void {
    this.candidates++;
    const awaited = this.awaited.get(item.thing_id);
    if (awaited?.monitorId !== monitor_id) return;
    this.awaited.delete(item.thing_id);
    this.effectsMs.push(performance.now() - awaited.answeredAt);
  }
}
