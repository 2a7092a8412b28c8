import type { Consumer } from 'kafkajs';
import type { RecordedMatch } from '../../../schemas/messages/recorded-match.ts';
import { MONITOR_CANDIDATES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { run } from '../shared/even-load.ts';

const BODY = 'Iron, water and air make rust; oil and paint keep it away. '.repeat(6);
const SECONDS_AT_ONCE = 0.5;

/** Publishes live candidates, and waits for their matches. */
export class LiveMatches {
  private readonly kafka: KafkaFixture;
  private readonly monitorIds: readonly string[];
  private readonly consumer: Consumer;
  private readonly waiting = new Map<string, () => void>();
  private sent = 0;

  private constructor(kafka: KafkaFixture, monitorIds: readonly string[], consumer: Consumer) {
    this.kafka = kafka;
    this.monitorIds = monitorIds;
    this.consumer = consumer;
  }

  static async start(kafka: KafkaFixture, monitorIds: readonly string[]): Promise<LiveMatches> {
    const consumer = kafka.kafka.client.consumer({ groupId: `${kafka.prefix}bench`, maxWaitTimeInMs: 5 });
    const live = new LiveMatches(kafka, monitorIds, consumer);
    await consumer.connect();
    await consumer.subscribe({ topics: [kafka.prefix + MONITOR_MATCHES.name], fromBeginning: true });
    let isJoined = false;
    consumer.on('consumer.group_join', () => {
      isJoined = true;
    });
    await consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: 4,
      eachBatch: ({ batch }) => {
        for (const { value } of batch.messages) {
          const text = value!.toString();
          // Backfilled ones are passed over as cheaply as possible.
          if (text.includes('"backfill":true')) continue;
          live.waiting.get((JSON.parse(text) as RecordedMatch).item.thing_id)?.();
        }
        return Promise.resolve();
      },
    });
    await eventually('the consumer joined', () => isJoined);
    return live;
  }

  /** Publishes candidates at an even rate for as long as `work` takes. */
  async send(perSecond: number, work: () => Promise<unknown>): Promise<{ latencies: number[]; ms: number }> {
    const begun = performance.now();
    const state = { isWorking: true };
    const working = work().finally(() => {
      state.isWorking = false;
    });
    const latencies: number[] = [];
    const server = { ask: () => this.recordOne(), close: () => Promise.resolve() };
    while (state.isWorking) latencies.push(...(await run(server, { perSecond, seconds: SECONDS_AT_ONCE })));
    await working;
    return { latencies, ms: performance.now() - begun };
  }

  async stop(): Promise<void> {
    await this.consumer.disconnect();
  }

  private async recordOne(): Promise<void> {
    const number = this.sent++;
    const thingId = `t1_live${number.toString(36)}`;
    const monitorId = this.monitorIds[number % this.monitorIds.length]!;
    const candidate = candidateOf({ monitorId, thingId, body: BODY });
    const recorded = new Promise<void>((resolve) => this.waiting.set(thingId, resolve));
    await this.kafka.publisher.publish(MONITOR_CANDIDATES.name, [{ key: monitorId, value: JSON.stringify(candidate) }]);
    await recorded;
    this.waiting.delete(thingId);
  }
}
