import { GenericContainer, Wait } from 'testcontainers';
import type { StartedTestContainer } from 'testcontainers';

const KAFKA_IMAGE = 'apache/kafka:4.1.0';
const POSTGRES_IMAGE = 'postgres:18';
const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:26.3';
/** The broker must advertise the port that clients use, so the container's port is bound to the same one outside. */
const KAFKA_PORT = 19_092;

/** The official images, for TEST_ENGINES=containers. Needs a Docker engine. */
export async function startContainers(): Promise<{
  kafkaBrokers: string;
  postgresUrl: string;
  clickhouseUrl: string;
  stop(): Promise<void>;
}> {
  const [kafka, postgres, clickhouse] = await Promise.all([startKafka(), startPostgres(), startClickhouse()]);
  return {
    kafkaBrokers: `${kafka.getHost()}:${KAFKA_PORT}`,
    postgresUrl: `postgres://postgres:test@${postgres.getHost()}:${postgres.getMappedPort(5432)}/postgres`,
    clickhouseUrl: `http://default:test@${clickhouse.getHost()}:${clickhouse.getMappedPort(8123)}`,
    async stop() {
      await Promise.all([kafka.stop(), postgres.stop(), clickhouse.stop()]);
    },
  };
}

function startKafka(): Promise<StartedTestContainer> {
  return new GenericContainer(KAFKA_IMAGE)
    .withExposedPorts({ container: KAFKA_PORT, host: KAFKA_PORT })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: `PLAINTEXT://:${KAFKA_PORT},CONTROLLER://:9093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://localhost:${KAFKA_PORT}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start();
}

function startPostgres(): Promise<StartedTestContainer> {
  return new GenericContainer(POSTGRES_IMAGE)
    .withExposedPorts(5432)
    .withEnvironment({ POSTGRES_PASSWORD: 'test' })
    .withCommand(['postgres', '-c', 'max_connections=200'])
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .start();
}

function startClickhouse(): Promise<StartedTestContainer> {
  return new GenericContainer(CLICKHOUSE_IMAGE)
    .withExposedPorts(8123)
    .withEnvironment({ CLICKHOUSE_PASSWORD: 'test' })
    .withWaitStrategy(Wait.forHttp('/ping', 8123))
    .start();
}
