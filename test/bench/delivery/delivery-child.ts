/** The deliverer as in production, in a separate process. Its argument is the addresses of the engines, as JSON. */
import { startDeliverer } from '../../../services/deliverer/start-deliverer.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { createSystemLookup } from '../../../shared/http/public-address.ts';
import { createEgressClient } from '../../../shared/http/egress-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

export interface DelivererJob {
  broker: string;
  prefix: string;
  postgresUrl: string;
  secretKey: string;
  /** Attempts under way at once. */
  atOnce: number;
}

/** Answer to any message. */
export interface DelivererState {
  rssMb: number;
  underWay: number;
}

const { broker, prefix, postgresUrl, secretKey, atOnce } = JSON.parse(process.argv[2]!) as DelivererJob;
const logger = silentLogger();
const metrics = createMetrics();
const kafka = createKafka({ brokers: [broker], clientId: 'bench', logger });
const deliverer = await startDeliverer({
  kafka,
  prefix,
  publisher: await createPublisher({ kafka, prefix, metrics, logger }),
  egress: createEgressClient({
    allowPrivate: true,
    egressProxy: undefined,
    lookup: createSystemLookup(),
    clock: systemClock,
  }),
  pool: createPool({ url: postgresUrl, name: 'deliverer', logger, max: 30 }),
  secretBox: createSecretBox(secretKey),
  metrics,
  limits: { total: atOnce },
  logger,
  fatal: (error) => {
    throw error;
  },
});
while (!deliverer.ready()) await new Promise((resolve) => setTimeout(resolve, 50));
process.send!('ready');
process.on('message', () => {
  void metrics.deliveriesInFlight.get().then(({ values }) => {
    const state = { rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20), underWay: values[0]?.value ?? 0 };
    process.send!(state satisfies DelivererState);
  });
});
process.once('disconnect', () => process.exit());
