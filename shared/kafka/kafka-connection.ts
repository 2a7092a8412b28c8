import kafkajs from 'kafkajs';
import type { Admin, Kafka, LogEntry } from 'kafkajs';
import type { Logger } from '../runtime/logger.ts';
import { parseBrokers } from './broker-list.ts';

export interface KafkaConnection {
  /** For the files of this folder only. */
  client: Kafka;
  logger: Logger;
  /**
   * Runs `work` with a connection of its own, which is closed afterwards: nothing stays half-open when a broker went
   * away.
   */
  withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T>;
  /** Resolves when a broker answers, rejects otherwise (after about 7 s of tries). */
  ping(): Promise<void>;
}

/** Conditions that pass by themselves while a broker starts, stops or moves a partition: no news for an operator. */
const PASSING =
  /loading|not available|no leader|not the leader|does not host|not aware of this member|rebalanc|not the (correct )?coordinator|connection|ECONNREFUSED|closed|disconnected|restarting the consumer/i;

/**
 * The settings every client shares. Nothing connects yet.
 *
 * A request is given up after 12 s (kafkajs repeats it on the same socket otherwise for as long as TCP allows), a
 * connect after 3 s. Retries inside kafkajs: ten, 0.1 s to 1 s apart, about 7 s in all; then the caller hears of it.
 */
export function createKafka(options: {
  /** host:port or user:password@host:port each. */
  brokers: readonly string[];
  clientId: string;
  logger: Logger;
}): KafkaConnection {
  const client = new kafkajs.Kafka({
    ...parseBrokers(options.brokers),
    clientId: options.clientId,
    connectionTimeout: 3_000,
    requestTimeout: 12_000,
    // Written out in full: kafkajs has other defaults when NODE_ENV is "test".
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2, multiplier: 2, retries: 10 },
    logLevel: options.logger.isLevelEnabled('debug') ? kafkajs.logLevel.INFO : kafkajs.logLevel.WARN,
    logCreator: () => bridgeTo(options.logger.child({ part: 'kafkajs' })),
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
 * kafkajs logs as errors what it then repeats by itself; what it cannot repeat reaches us as an exception or a CRASH
 * event and is logged there. So its lines go one level down, and passing conditions to debug.
 */
function bridgeTo(logger: Logger): (entry: LogEntry) => void {
  return ({ namespace, level, log: { message, error, topic, partition, groupId, broker } }) => {
    const fields: Record<string, unknown> = { namespace, topic, partition, groupId, broker, reason: error };
    const passing = PASSING.test(`${message} ${String(error ?? '')}`);
    if (level >= kafkajs.logLevel.INFO || passing) logger.debug(fields, message);
    else if (level === kafkajs.logLevel.WARN) logger.info(fields, message);
    else logger.warn(fields, message);
  };
}

/**
 * The protocol error's name, as in REBALANCE_IN_PROGRESS, looked up through the wrappers that kafkajs puts around it.
 */
export function protocolErrorType(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ('type' in e && typeof e.type === 'string') return e.type;
  }
  return undefined;
}
