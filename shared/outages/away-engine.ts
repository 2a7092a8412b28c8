import { isClickhouseAway } from '../clickhouse/clickhouse-away.ts';
import { isKafkaAway } from '../kafka/kafka-away.ts';
import { isPostgresAway } from '../postgres/postgres-away.ts';
import { markedEngine } from './engine.ts';
import type { EngineName } from './engine.ts';

/**
 * The engine whose absence explains an error, so that the work may be repeated; undefined: none does, it is a fault of
 * ours.
 *
 * An error of the network alone does not name its engine: without `markEngine`'s mark it counts as Postgres's.
 */
export function awayEngine(error: unknown): EngineName | undefined {
  if (isKafkaAway(error)) return 'kafka';
  if (markedEngine(error) !== 'clickhouse' && isPostgresAway(error)) return 'postgres';
  return isClickhouseAway(error) ? 'clickhouse' : undefined;
}
