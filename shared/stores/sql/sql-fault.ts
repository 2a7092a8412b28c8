import { ClickHouseError } from '@clickhouse/client';
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
  if (TEMPORARY.has(error.code)) return error;
  return new SqlRefused(`cannot be run: ${sentence(error.message, names)}`, { cause: error });
}

/**
 * Codes of what may be over when the statement is sent again: the server is busy, starting or stopping, cannot read or
 * write its own files, or does not know us. Whatever else the engine says is the fault of the statement, also codes
 * that are unknown here: an author who is told to try again would do so for ever.
 */
const TEMPORARY = new Set([
  // Busy, starting, stopping, or short of memory for everybody.
  ...['173', '201', '202', '203', '209', '210', '236', '373', '394', '425', '439', '677', '696', '735', '745', '777'],
  ...['778', '1002'],
  // Its files and those of its parts.
  ...['23', '40', '74', '75', '76', '107', '499'],
  // Its cluster.
  ...['198', '225', '242', '254', '279', '319', '519', '733', '999'],
  // Our user.
  ...['192', '193', '195', '516', '700', '720'],
]);

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
