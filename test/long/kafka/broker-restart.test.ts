import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { PublishFailed } from '../../../shared/kafka/kafka-unavailable.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { readToEnd } from '../../../shared/kafka/read-to-end.ts';
import { consumerLag } from '../../../shared/kafka/topic-admin.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'forum-test-broker-'));
let engines: RunningEngines<'kafka'>;
let fixture: KafkaFixture;
beforeAll(async () => {
  engines = await startEngines({ dataDir, env: process.env, engines: ['kafka'] });
  fixture = await createKafkaFixture(engines.urls.kafka.replace('kafka://', ''));
});
afterAll(async () => {
  await fixture.drop();
  await engines.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test('publisher and consumer survive a kill and restart of the broker, and no acknowledged record is lost', async () => {
  const topic = await fixture.topic('killed', 2);
  const handled = new Set<number>();
  const consumer = await startBatchConsumer({
    ...fixture,
    group: 'killed',
    topics: [topic],
    logger: silentLogger(),
    // After the restart the group waits this long for the member id that kafkajs no longer uses.
    sessionTimeoutMs: 6_000,
    async handle(batch) {
      for (const { value } of batch.records) handled.add(Number(value.toString()));
    },
  });
  let acknowledged = 0;
  let failures = 0;
  const stopping = new AbortController();
  const publishing = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await fixture.publisher.publish(topic, [{ key: String(acknowledged), value: String(acknowledged) }]);
        acknowledged++;
      } catch (error) {
        expect(error).toBeInstanceOf(PublishFailed);
        failures++;
      }
      await wait(10);
    }
  })();
  await eventually('flow', () => handled.size > 100);

  const killed = engines.process('kafka');
  process.kill(killed.pid, 'SIGKILL');
  await killed.exited;
  const atKill = acknowledged;
  await eventually('the consumer is not ready while the broker is unavailable', () => !consumer.ready());
  // Long enough for a publish to exhaust its retries while no broker answers; the consumer crashes and starts again.
  const faults: unknown[] = [];
  const pausing = setInterval(() => {
    try {
      consumer.pause();
      consumer.resume();
    } catch (error) {
      faults.push(error);
    }
  }, 20);
  await eventually('a publish failed', () => failures > 0);
  await engines.restart('kafka');
  clearInterval(pausing);
  expect(faults).toEqual([]);

  await eventually('publishing goes on', () => acknowledged > atKill + 100);
  await eventually('consuming goes on', () => handled.size > atKill + 100);
  stopping.abort();
  await publishing;
  await eventually('everything acknowledged is handled', () =>
    Array.from({ length: acknowledged }, (_, i) => i).every((n) => handled.has(n)),
  );
  await eventually('lag 0', async () => {
    const lags = await consumerLag(fixture.kafka, { ...fixture, group: 'killed', topics: [topic] });
    return lags.every(({ lag }) => lag === 0);
  });
  await eventually('ready again', () => consumer.ready());
  await consumer.stop();
}, 120_000);

test('reading a topic to its end ends when no broker answers any more', async () => {
  const kafka = createKafka({ brokers: [`127.0.0.1:${await freePort()}`], clientId: 'test', logger: silentLogger() });
  const reading = readToEnd({
    ...{ kafka, prefix: fixture.prefix, topics: ['gone'], silenceMs: 100 },
    ranges: [{ topic: 'gone', partition: 0, next: 0n, head: 1n }],
    handle: () => Promise.resolve(),
  });
  await expect(reading).rejects.toThrow('nothing of gone arrived in 0.1 s');
});
