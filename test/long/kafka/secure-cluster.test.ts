import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import type { KafkaSecurity } from '../../../shared/kafka/broker-list.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { topicOf } from '../../support/fixtures/kafka-fixture.ts';
import { canMakeCertificates } from '../../support/fixtures/encrypted/certificates.ts';
import { startSecureBroker } from '../../support/fixtures/encrypted/secure-broker.ts';
import type { SecureBroker } from '../../support/fixtures/encrypted/secure-broker.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

const logger = silentLogger();

/** Without openssl there are no certificates, and these tests are skipped. */
describe.skipIf(!canMakeCertificates)('a broker that encrypts', () => {
  let broker: SecureBroker;
  beforeAll(async () => {
    broker = await startSecureBroker();
    const kafka = createKafka({ brokers: [mutualAddress()], security: mutual(), clientId: 'test', logger });
    await eventually(
      'the broker answers',
      () =>
        kafka.ping().then(
          () => true,
          () => false,
        ),
      90_000,
    );
  });
  afterAll(() => broker.stop());

  const mutualAddress = () => `localhost:${broker.ports.mutual}`;
  const saslAddress = (password: string) => `kafka://${broker.user}:${password}@localhost:${broker.ports.sasl}`;
  const tls = () => ({ caFile: broker.files.ca, certificateFile: undefined, keyFile: undefined });
  const mutual = (): KafkaSecurity => ({
    mechanism: 'plain',
    tls: { caFile: broker.files.ca, certificateFile: broker.files.certificate, keyFile: broker.files.key },
  });
  const connectTo = (address: string, security: KafkaSecurity) =>
    createKafka({ brokers: [address], security, clientId: 'test', logger });

  /** Creates a topic, and publishes and consumes a record. */
  async function roundTrip(prefix: string, address: string, security: KafkaSecurity): Promise<string[]> {
    const kafka = connectTo(address, security);
    const metrics = createMetrics();
    await ensureTopics(kafka, { prefix, embedded: false, topics: [topicOf('letters', 1)], partitions: { letters: 1 } });
    const publisher = await createPublisher({ kafka, prefix, metrics, logger });
    const read: string[] = [];
    const consumer = await startBatchConsumer({
      ...{ kafka, prefix, group: 'readers', topics: ['letters'], metrics, logger },
      handle: ({ records }) => {
        read.push(...records.map(({ value }) => value.toString()));
        return Promise.resolve();
      },
      fatal: (error) => read.push(String(error)),
    });
    try {
      await publisher.publish('letters', [{ key: 'k', value: 'in private' }]);
      await eventually('the record is read', () => read.length > 0);
    } finally {
      await consumer.stop();
      await publisher.stop();
    }
    return read;
  }

  test.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'takes user and password by %s',
    async (mechanism) => {
      const security = { mechanism, tls: tls() };
      expect(await roundTrip(`${mechanism}.`, saslAddress(broker.password), security)).toEqual(['in private']);
    },
  );

  test('takes a certificate of a client', async () => {
    expect(await roundTrip('mutual.', mutualAddress(), mutual())).toEqual(['in private']);
  });

  test('is not trusted without its authority, under another name, or with a wrong password', async () => {
    const ping = (address: string, security: KafkaSecurity) => connectTo(address, security).ping();
    const good = { mechanism: 'scram-sha-512', tls: tls() } as const;
    const unknown = { ...good, tls: { ...tls(), caFile: undefined } };
    const address = saslAddress(broker.password);
    await Promise.all([
      expect(ping(address, unknown)).rejects.toThrow(/certificate|issuer/),
      expect(ping(address.replace('localhost', '127.0.0.1'), good)).rejects.toThrow(/IP|altnames/),
      expect(ping(saslAddress('wrong'), good)).rejects.toThrow(/SCRAM|authentication/i),
      expect(ping(mutualAddress(), { mechanism: 'plain', tls: tls() })).rejects.toThrow(),
    ]);
  });
});
