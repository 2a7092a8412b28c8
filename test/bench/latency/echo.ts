import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { parseBrokers } from '../../../shared/kafka/broker-list.ts';

/**
 * The baseline of the latency benchmark: bare kafkajs with three topics, where each consumer produces to the next
 * topic. Returns the milliseconds from each send to the last consumer.
 */
export async function threeHopEcho(brokers: string[], messages: number, perSecond: number): Promise<number[]> {
  const kafka = new kafkajs.Kafka({ clientId: 'echo', ...parseBrokers(brokers), logLevel: kafkajs.logLevel.NOTHING });
  const run = randomBytes(4).toString('hex');
  const topics = [1, 2, 3].map((hop) => `echo-${run}-${hop}`);
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: 2 })), waitForLeaders: true });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
  await producer.connect();
  const latencies: number[] = [];
  const consumers = await Promise.all(
    topics.map(async (topic, hop) => {
      const consumer = kafka.consumer({ groupId: `${topic}-group`, maxWaitTimeInMs: 100, minBytes: 1 });
      const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        eachMessage: async ({ message }) => {
          const next = topics[hop + 1];
          if (next) await producer.send({ topic: next, messages: [{ key: message.key, value: message.value }] });
          else latencies.push(Date.now() - Number(message.value!.toString()));
        },
      });
      await joined;
      return consumer;
    }),
  );
  for (let sent = 0; sent < messages; sent++) {
    await producer.send({ topic: topics[0]!, messages: [{ key: String(sent), value: String(Date.now()) }] });
    await wait(1000 / perSecond);
  }
  for (let tries = 0; tries < 100 && latencies.length < messages; tries++) await wait(50);
  await Promise.all(consumers.map((consumer) => consumer.disconnect()));
  await producer.disconnect();
  await admin.deleteTopics({ topics });
  await admin.disconnect();
  return latencies;
}
