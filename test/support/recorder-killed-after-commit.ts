/**
 * A recorder that is killed right after its transaction has committed: before it could publish a match or commit an offset.
 * Run as a process of its own; its argument is JSON: {brokers, prefix, postgresUrl}.
 */
import type { PoolClient } from 'pg';
import { startRecorder } from '../../services/recorder/start-recorder.ts';
import { createKafka } from '../../shared/kafka/kafka-connection.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import { silentLogger } from './silent-logger.ts';

const { brokers, prefix, postgresUrl } = JSON.parse(process.argv[2]!) as Record<
  'brokers' | 'prefix' | 'postgresUrl',
  string
>;
const logger = silentLogger();
const pool = createPool({ url: postgresUrl, name: 'doomed-recorder', logger });

const connect = pool.connect.bind(pool) as (callback?: unknown) => Promise<PoolClient>;
/** pool.query() connects with a callback; transactions await a client, and only theirs is doomed. */
const doomedConnect = async (callback?: unknown): Promise<PoolClient> => {
  if (callback !== undefined) return connect(callback);
  const client = await connect();
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'query') return value.bind(target) as unknown;
      return async (...args: unknown[]): Promise<unknown> => {
        const answer: unknown = await Reflect.apply(value, target, args);
        if (args[0] === 'COMMIT') process.kill(process.pid, 'SIGKILL');
        return answer;
      };
    },
  });
};
Object.assign(pool, { connect: doomedConnect });

await startRecorder({
  kafka: createKafka({ brokers: brokers.split(','), clientId: 'doomed', logger }),
  prefix,
  pool,
  toleranceMs: 0,
  metrics: createMetrics(),
  logger,
  fatal: (error) => {
    console.error(error);
    process.exit(1);
  },
});
