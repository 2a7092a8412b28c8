import kafkajs from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { startMatchWakeUps } from '../../../services/api/matches/live-tails.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { EventStreamClient } from '../../support/clients/event-stream-client.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let fixture: KafkaFixture;

beforeAll(async () => {
  [db, fixture] = await Promise.all([createTestDatabase(), createKafkaFixture()]);
  await fixture.topic(MONITOR_MATCHES.name, 4);
});

afterAll(async () => {
  await fixture.drop();
  await db.drop();
});

/** Far longer than a test runs: what arrives was not found by the poll. */
const NEVER_MS = 3_600_000;

interface Woken {
  api: TestApi;
  /** How often all streams were woken because messages may have been missed. */
  gaps: () => number;
  stop: () => Promise<void>;
}

async function startWoken(pollMs = NEVER_MS, kafka = fixture.kafka): Promise<Woken> {
  let gaps = 0;
  const { prefix, fatal } = fixture;
  const wakeUps = startMatchWakeUps({ kafka, prefix, fatal, logger: silentLogger() });
  const listen: typeof wakeUps.listen = (listener) =>
    wakeUps.listen((monitorId) => {
      if (monitorId === undefined) gaps++;
      listener(monitorId);
    });
  const api = await startTestApi(db.pool, { liveTail: { wakeUps: { listen }, timing: { pollMs } } });
  return {
    api,
    gaps: () => gaps,
    async stop() {
      await api.stop();
      await wakeUps.stop();
    },
  };
}

async function groups(): Promise<string[]> {
  const all = await fixture.kafka.withAdmin((admin) => admin.listGroups());
  return all.groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(fixture.prefix));
}

/** Like the recorder: commits first, publishes afterwards. The value of the message is not read. */
async function recordAndPublish(monitorId: string, count: number): Promise<void> {
  await recordMatches(db.pool, monitorId, count);
  const records = Array.from({ length: count }, () => ({ key: monitorId, value: Buffer.from('not even JSON') }));
  await fixture.publisher.publish(MONITOR_MATCHES.name, records);
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test('a message wakes the streams of its monitor on two instances; their consumer groups are deleted on stop', async () => {
  const both = await Promise.all([startWoken(), startWoken()]);
  const [{ api }] = both;
  await eventually('both read the topic', () => both.every(({ gaps }) => gaps() >= 2));
  const joined = await groups();
  expect(joined).toHaveLength(2);
  const { apiKey } = await api.account();
  const [{ id }, other] = [await api.monitor(apiKey), await api.monitor(apiKey)];
  const clients = await Promise.all(
    both.map(({ api: { url } }) => EventStreamClient.open(`${url}/v1/monitors/${id}/stream`, apiKey)),
  );
  // The stream reads once when it opens. Its first match shows that it has done so.
  await recordMatches(db.pool, other.id, 2);
  const silent = await EventStreamClient.open(`${api.url}/v1/monitors/${other.id}/stream`, apiKey, {
    'last-event-id': matchId(other.id, 1),
  });
  await silent.until(1);
  // Recorded without a message: a stream woken by messages of other monitors would send it.
  await recordMatches(db.pool, other.id, 1);
  for (let recorded = 12; recorded <= 60; recorded += 12) {
    await recordAndPublish(id, 12);
    await Promise.all(clients.map((client) => client.until(recorded)));
  }
  for (const client of clients) expect(client.seqs).toEqual(upTo(60));
  expect(silent.seqs).toEqual([2]);
  await fixture.publisher.publish(MONITOR_MATCHES.name, [{ key: other.id, value: Buffer.from('') }]);
  await silent.until(2);
  const offsets = await fixture.kafka.withAdmin((admin) =>
    admin.fetchOffsets({ groupId: joined[0]!, topics: [fixture.prefix + MONITOR_MATCHES.name] }),
  );
  expect(new Set(offsets[0]!.partitions.map(({ offset }) => offset))).toEqual(new Set(['-1']));
  await Promise.all(both.map((one) => one.stop()));
  // A stop does not wait for a slow broker; the request that deletes the group is under way then.
  await eventually('the groups are deleted', async () => (await groups()).length === 0);
});

test('matches published before the topic was joined are found after the join', async () => {
  const api = await startTestApi(db.pool);
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  let join = (): void => undefined;
  const asked = new Promise<void>((resolve) => (join = resolve));
  // A broker that the consumer can reach only after it is admitted.
  const { client } = fixture.kafka;
  const late = { ...fixture.kafka, client: { consumer: lateConsumer(client, asked) } as unknown as typeof client };
  const woken = await startWoken(NEVER_MS, late);
  const stream = await EventStreamClient.open(`${woken.api.url}/v1/monitors/${id}/stream`, apiKey);
  await stream.until(0);
  await recordAndPublish(id, 5);
  expect(woken.gaps()).toBe(0);
  join();
  await stream.until(5);
  expect(stream.seqs).toEqual(upTo(5));
  await woken.stop();
  await api.stop();
});

function lateConsumer(client: typeof fixture.kafka.client, asked: Promise<void>): typeof client.consumer {
  return (options) => {
    const consumer = client.consumer(options);
    const connect = async () => {
      await asked;
      await consumer.connect();
    };
    return { ...consumer, connect };
  };
}

test('a broker that becomes unavailable again between the connection and the subscription ends no process', async () => {
  let failures = 0;
  const { client } = fixture.kafka;
  const consumer: typeof client.consumer = (options) => {
    const real = client.consumer(options);
    const subscribe: typeof real.subscribe = async (topics) => {
      if (++failures <= 2) throw new kafkajs.KafkaJSConnectionError('Connection timeout');
      await real.subscribe(topics);
    };
    return { ...real, subscribe };
  };
  const woken = await startWoken(NEVER_MS, { ...fixture.kafka, client: { consumer } as unknown as typeof client });
  await eventually('the topic is read', () => woken.gaps() >= 2);
  expect(failures).toBe(3);
  await woken.stop();
});

test('without a broker streams open, polls find matches, and everything stops cleanly', async () => {
  const nowhere = createKafka({ brokers: ['127.0.0.1:9'], clientId: 'test', logger: silentLogger() });
  const woken = await startWoken(50, nowhere);
  const { apiKey } = await woken.api.account();
  const { id } = await woken.api.monitor(apiKey);
  const stream = await EventStreamClient.open(`${woken.api.url}/v1/monitors/${id}/stream`, apiKey);
  await recordMatches(db.pool, id, 3);
  await stream.until(3);
  expect(stream.seqs).toEqual(upTo(3));
  expect(woken.gaps()).toBe(0);
  await woken.stop();
  await stream.closed();
});
