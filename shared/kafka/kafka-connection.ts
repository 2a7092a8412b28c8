import kafkajs from 'kafkajs';
import type { Admin, Kafka, LogEntry } from 'kafkajs';
import type { Logger } from '../runtime/logger.ts';
import { NO_SECURITY, parseBrokers, tlsOptions } from './broker-list.ts';
import { BrokerSockets } from './broker-sockets.ts';
import type { KafkaSecurity } from './broker-list.ts';

export interface KafkaConnection {
  /** Only for the files of this folder. */
  client: Kafka;
  logger: Logger;
  /** With a connection of its own, so that none stays half-open when a broker disconnects. */
  withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T>;
  /** Resolves when a broker answers; rejects after about 7 s of retries. */
  ping(): Promise<void>;
}

/** Temporary conditions while a broker starts, stops or moves a partition; operators need not see them. */
const TRANSIENT =
  /loading|not available|no broker available|no leader|not the leader|does not host|not aware of this member|rebalanc|not the (correct )?coordinator|connection|ECONNREFUSED|closed|disconnected|restarting the consumer/i;

/**
 * Creates a client with the shared settings; it does not connect yet. A call fails after about 7 s without a broker.
 */
export function createKafka(options: {
  /** Each is host:port or user:password@host:port. */
  brokers: readonly string[];
  /** Default: no encryption, and SASL/PLAIN where the brokers have a user and a password. */
  security?: KafkaSecurity;
  clientId: string;
  logger: Logger;
}): KafkaConnection {
  const { security = NO_SECURITY } = options;
  const { brokers, ...sasl } = parseBrokers(options.brokers, security.mechanism);
  const sockets = new BrokerSockets(brokers, () => performance.now());
  const client = new kafkajs.Kafka({
    brokers: sockets.seeds,
    socketFactory: sockets.connect,
    ...sasl,
    ...tlsOptions(security),
    clientId: options.clientId,
    connectionTimeout: 3_000,
    // BrokerSockets does that: kafkajs would go on with a connection whose request has timed out.
    enforceRequestTimeout: false,
    // All values are explicit, because kafkajs has other defaults when NODE_ENV is "test".
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2, multiplier: 2, retries: 10 },
    logLevel: options.logger.isLevelEnabled('debug') ? kafkajs.logLevel.INFO : kafkajs.logLevel.WARN,
    logCreator: () => createLogBridge(options.logger.child({ part: 'kafkajs' })),
  });
  const withAdmin = async <T>(work: (admin: Admin) => Promise<T>): Promise<T> => {
    const admin = client.admin();
    try {
      await admin.connect();
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  };
  return {
    client,
    logger: options.logger,
    withAdmin,
    async ping() {
      await withAdmin((admin) => admin.describeCluster());
    },
  };
}

/**
 * kafkajs logs errors that it then retries; those that it cannot retry reach us otherwise. So its messages are logged
 * one level lower, and temporary conditions at debug.
 */
function createLogBridge(logger: Logger): (entry: LogEntry) => void {
  return ({ namespace, level, log: { message, error, topic, partition, groupId, broker } }) => {
    const fields: Record<string, unknown> = { namespace, topic, partition, groupId, broker, reason: error };
    const isTransient = TRANSIENT.test(`${message} ${String(error ?? '')}`);
    if (level >= kafkajs.logLevel.INFO || isTransient) logger.debug(fields, message);
    else if (level === kafkajs.logLevel.WARN) logger.info(fields, message);
    else logger.warn(fields, message);
  };
}

/** The name of the protocol error in this error, such as REBALANCE_IN_PROGRESS. */
export function protocolErrorType(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ('type' in e && typeof e.type === 'string') return e.type;
  }
  return undefined;
}
