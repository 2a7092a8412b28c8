import { ClickHouseError } from '@clickhouse/client';
import { isNetworkFault, markedEngine } from '../runtime/errors.ts';

/**
 * ClickHouse's error codes for a wrong statement or wrong data, on every node and at any time. All other conditions are
 * temporary: a full disk (243), a missing table or database on a node that lags behind (60, 81), changed credentials
 * (516), and whatever a later version adds.
 */
const PERMANENT = new Set(
  [
    // The statement cannot be parsed.
    '36 37 62 78 80 123 167 168 211 223 229',
    // It names something that does not exist, or names it twice.
    '7 8 9 10 15 16 20 46 47 50 51 52 56 57 63 66 73 115 152 174 179 207 336 352 403 456 457',
    // Functions with wrong arguments.
    '34 35 42 43 44 69 184 215 386 395 427',
    // Values that do not have the type of their column.
    '6 19 25 26 27 38 41 53 70 72 117 130 321 349 376 377 407 441 467 675 676',
    // Constraints, settings, and what this server does not support.
    '48 344 392 450 452 469 471 549',
  ].flatMap((codes) => codes.split(' ')),
);

/**
 * True when ClickHouse is unavailable, starting, slow, full or behind, so that the same statement may succeed later. An
 * answer that ClickHouse did not write, such as a load balancer's page, counts as unavailable. The errors of the client
 * are recognised by their mark (`createClickhouse`).
 */
export function isClickhouseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isClickhouseUnavailable);
  if (!(error instanceof Error) || (markedEngine(error) ?? 'clickhouse') !== 'clickhouse') return false;
  if (error instanceof ClickHouseError) return !PERMANENT.has(error.code);
  if (isNetworkFault(error)) return true;
  // Its client reports a timeout only by a message, and throws a plain Error for any answer that ClickHouse did not
  // write.
  return markedEngine(error) === 'clickhouse' && Object.getPrototypeOf(error) === Error.prototype;
}

/** What a statement of ours names is missing: a column of a release whose migrations have not reached this node yet. */
const BEHIND = new Set(['16', '47']);

/**
 * True when the archive cannot be read now: ClickHouse is unavailable, or its schema is still that of the release
 * before.
 */
export function isArchiveUnavailable(error: unknown): boolean {
  return isClickhouseUnavailable(error) || (error instanceof ClickHouseError && BEHIND.has(error.code));
}
