import { isClickhouseAway } from '../clickhouse/clickhouse-away.ts';
import { isKafkaAway } from '../kafka/kafka-away.ts';
import { isPostgresAway } from '../postgres/postgres-away.ts';
import { markedEngine } from './engine.ts';
import type { EngineName } from './engine.ts';

/**
 * The engine whose outage explains an error, so that the work can be repeated; undefined when no outage does, and the
 * error is a fault of this program.
 *
 * A network error does not name its engine: unless `markEngine` marked it, it counts as Postgres's.
 */
export function awayEngine(error: unknown): EngineName | undefined {
  if (isKafkaAway(error)) return 'kafka';
  if (markedEngine(error) !== 'clickhouse' && isPostgresAway(error)) return 'postgres';
  return isClickhouseAway(error) ? 'clickhouse' : undefined;
}
