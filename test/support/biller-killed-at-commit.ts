/**
 * A biller that is killed in the middle of its renewals, right before or after a commit. Run as a process of its own; its argument
 * is the job as JSON.
 */
import type { PoolClient } from 'pg';
import { runRenewalPass } from '../../services/biller/renewal-pass.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import { silentLogger } from './silent-logger.ts';

export interface DoomedBillerJob {
  postgresUrl: string;
  batchSize: number;
  /** At which commit, 1 and more, and whether before or after it. */
  commit: number;
  moment: 'before' | 'after';
}

const job = JSON.parse(process.argv[2]!) as DoomedBillerJob;
const logger = silentLogger();
const pool = createPool({ url: job.postgresUrl, name: 'doomed-biller', logger });
let commits = 0;

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
        const isLast = args[0] === 'COMMIT' && ++commits === job.commit;
        if (isLast && job.moment === 'before') process.kill(process.pid, 'SIGKILL');
        const answer: unknown = await Reflect.apply(value, target, args);
        if (isLast) process.kill(process.pid, 'SIGKILL');
        return answer;
      };
    },
  });
};
Object.assign(pool, { connect: doomedConnect });

const { signal } = new AbortController();
await runRenewalPass({ pool, metrics: createMetrics(), logger, signal, batchSize: job.batchSize });
throw new Error(`it made only ${commits} commits`);
