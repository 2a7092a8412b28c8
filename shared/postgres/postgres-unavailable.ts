import { certificateFault, errorCode, isNetworkFault, markedEngine } from '../runtime/errors.ts';

/** SQLSTATE classes of temporary conditions: they end by themselves or an operator ends them. */
const CLASSES = new Set([
  '08', // connection exceptions
  '53', // insufficient resources: disk full, out of memory, too many connections
  '57', // operator intervention: cancelled, timed out, shut down, starting
  '58', // system errors outside of Postgres: its disk, its files
]);

const CONDITIONS = new Set([
  '40000', // transaction_rollback
  '40001', // serialization_failure
  '40003', // statement_completion_unknown
  '40P01', // deadlock_detected
  '55000', // object_not_in_prerequisite_state: a database that takes no connections, a standby that recovers
  '55006', // object_in_use
  '55P03', // lock_not_available: lock_timeout
  '25006', // read_only_sql_transaction: a standby, before or after a fail-over
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
]);

/** Exceptions from these classes: a dropped database does not come back. */
const PERMANENT = new Set(['57P04']);

/** The client's own error messages, when the server sent none. */
const MESSAGES =
  /Connection terminated|timeout expired|Query read timeout|timeout exceeded when trying to connect|is not queryable|error establishing an SSL connection/i;

/**
 * True when Postgres is unavailable, slow, full, starting or asks for a retry, so that the same work may succeed later.
 * False for our own faults: syntax, names, types, constraints, permissions.
 */
export function isPostgresUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isPostgresUnavailable);
  if (!(error instanceof Error) || (markedEngine(error) ?? 'postgres') !== 'postgres') return false;
  if (isNetworkFault(error) || certificateFault(error) !== undefined) return true;
  const state = sqlState(error);
  if (state !== undefined) return CONDITIONS.has(state) || (CLASSES.has(state.slice(0, 2)) && !PERMANENT.has(state));
  return MESSAGES.test(error.message);
}

/** True when Postgres works but refuses one connection more, by max_connections or a limit of the role or database. */
export function hasNoFreeConnection(error: unknown): boolean {
  return sqlState(error) === '53300';
}

/** The SQLSTATE of an error reported by the server; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const code = errorCode(error) ?? '';
  return /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code) ? code : undefined;
}
