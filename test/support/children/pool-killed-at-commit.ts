import type { Pool, PoolClient } from 'pg';

export interface KillPoint {
  /** The number of the commit of a transaction, starting with 1, and whether before or after it. */
  commit: number;
  moment: 'before' | 'after';
  /** Only transactions with such a statement count. Default: all. */
  statement?: RegExp;
}

/**
 * Makes one of the commits through the pool kill this process (SIGKILL).
 *
 * @returns a function that returns the number of commits so far
 */
export function killAtCommit(pool: Pool, killPoint: KillPoint): () => number {
  let commits = 0;
  const connect = pool.connect.bind(pool) as (callback?: unknown) => Promise<PoolClient>;
  /** pool.query() connects with a callback. Transactions await a client, and only those clients are killed. */
  const doomedConnect = async (callback?: unknown): Promise<PoolClient> => {
    if (callback !== undefined) return connect(callback);
    const client = await connect();
    let counts = false;
    return new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'query') return value.bind(target) as unknown;
        return async (...args: unknown[]): Promise<unknown> => {
          const [query] = args as [string | { text: string }];
          const text = typeof query === 'string' ? query : query.text;
          counts ||= killPoint.statement?.test(text) ?? true;
          const isLast = text === 'COMMIT' && counts && ++commits === killPoint.commit;
          if (isLast && killPoint.moment === 'before') process.kill(process.pid, 'SIGKILL');
          const answer: unknown = await Reflect.apply(value, target, args);
          if (isLast) process.kill(process.pid, 'SIGKILL');
          return answer;
        };
      },
    });
  };
  Object.assign(pool, { connect: doomedConnect });
  return () => commits;
}
