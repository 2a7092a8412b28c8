import type { Queryable } from '../postgres/pool.ts';
import { readOne, readRows } from '../postgres/sql.ts';

/** The clock of Postgres in microseconds since 1970: one clock for all processes. */
export async function readPostgresTime(db: Queryable): Promise<number> {
  const rows = await readRows<{ now: number }>(db)`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::float8 AS now`;
  return Math.floor(rows[0]?.now ?? 0);
}

/** The time of the service (service_now) in milliseconds since 1970. */
export async function readServiceTime(db: Queryable): Promise<number> {
  const { now } = await readOne<{ now: number }>(db)`
    SELECT floor(extract(epoch FROM service_now()) * 1000)::float8 AS now`;
  return now;
}
