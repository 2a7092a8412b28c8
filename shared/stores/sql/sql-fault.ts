import { ClickHouseError } from '@clickhouse/client';
import { isClickhouseAway } from '../../clickhouse/clickhouse-away.ts';
import { SqlRefused } from './judge-sql.ts';

/** Codes of ClickHouse for statements that are beyond a limit. */
const LIMITS: ReadonlyMap<string, string> = new Map([
  ['159', 'takes longer than 10 seconds'],
  ['160', 'takes longer than 10 seconds'],
  ['241', 'needs more than 1 GB of memory'],
  ['243', 'needs more disk than it may use'],
  ['158', 'reads more rows than it may'],
  ['307', 'reads more bytes than it may'],
  ['396', 'has a result of more than 100,000 rows or 32 MB; add a LIMIT'],
  ['191', 'reads more rows than it may'],
]);
const LONGEST = 300;

/**
 * What the author of a statement is told of an error: only the engine's sentence about the statement, without our part
 * of it, names of databases and addresses. Other errors are returned unchanged.
 */
export function sqlFault(error: unknown, names: { archive: string; sandbox: string }): unknown {
  if (!(error instanceof ClickHouseError)) return error;
  const limit = LIMITS.get(error.code);
  if (limit !== undefined) return new SqlRefused(limit);
  if (isClickhouseAway(error) && !OF_THE_AUTHOR.has(error.code)) return error;
  return new SqlRefused(`cannot be run: ${sentence(error.message, names)}`, { cause: error });
}

/**
 * An unknown table or database, and what the engine does not permit: for other statements a server that lags behind or
 * has lost its users, for these a fault of their author.
 */
const OF_THE_AUTHOR = new Set(['60', '81', '164', '497']);

function sentence(message: string, { archive, sandbox }: { archive: string; sandbox: string }): string {
  const [first = ''] = message.split(
    /(?:: |\. )(?:In scope|While|while|In query|Stack trace|\(version|Expected one of)/,
  );
  const told = first
    .replace(/^Code: \d+\. DB::Exception: /, '')
    .replaceAll(`${sandbox}.`, '')
    .replaceAll(`${archive}.`, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST);
  // Whatever still names a part of ours.
  return /\bmon_[0-9a-z]{12}\b|now64|\/|delivery_attempts|\bitems\b/.test(told) ? 'the engine refuses it' : told;
}
