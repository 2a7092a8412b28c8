import { isClickhouseUnavailable } from '../clickhouse/clickhouse-unavailable.ts';
import { isKafkaUnavailable } from '../kafka/kafka-unavailable.ts';
import { isPostgresUnavailable } from '../postgres/postgres-unavailable.ts';
import { markedEngine } from './engine.ts';
import type { EngineName } from './engine.ts';

/**
 * The engine whose outage explains an error, so that the work can be repeated; undefined when no outage does, and the
 * error is a fault of this program.
 *
 * A network error does not name its engine: unless `markEngine` marked it, it counts as Postgres's.
 */
export function unavailableEngine(error: unknown): EngineName | undefined {
  if (isKafkaUnavailable(error)) return 'kafka';
  if (markedEngine(error) !== 'clickhouse' && isPostgresUnavailable(error)) return 'postgres';
  return isClickhouseUnavailable(error) ? 'clickhouse' : undefined;
}
