import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sqlAnswer as sqlAnswerSchema, sqlBody } from '../../../schemas/api/sql.ts';
import {
  releaseStatementSlot,
  FAILED_MS_PER_DAY,
  SQL_TABLES,
  takeStatementSlot,
  TooManyRows,
  writeAccountRows,
} from '../../../shared/accounts/statement-rows.ts';
import { chargeLocally } from '../../../shared/billing/ledger.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { isArchiveUnavailable } from '../../../shared/clickhouse/clickhouse-unavailable.ts';
import { listMonitors } from '../../../shared/monitors/monitors.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { OUTAGE_STATUS } from '../../../shared/rules/error-codes.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ApiError, engineUnavailable, invalidRequest } from '../http/api-error.ts';
import { UnknownCharges } from '../http/request-charges.ts';
import { chargedRequest, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { runInBox, SQL_LIMITS, sqlAnswer, SqlRefused } from './sql-box.ts';
import type { SqlFormat, SqlResult } from './sql-box.ts';

export interface SqlDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  /** Holds the rows of statements while they run. */
  sqlFolder: string;
  logger: Logger;
}

/**
 * Statements at once in this process, at most one of an account. Further ones are refused, so that they take no memory
 * while they wait.
 */
const MAX_AT_ONCE = 2;
const RETRY_AFTER_S = 2;
const READ_MS = 25_000;
const ROWS_FOR_A_CREDIT = 1_000_000;
const SECONDS_PER_DAY = 86_400;
const UNAVAILABLE = 'The archive is not responding. Try again later.';
const TOO_LARGE = 'cannot be run: the account has more than 5,000,000 rows in a table, or more than 256 MB';

type StatementDeps = SqlDeps & { unknown: UnknownCharges };
type Statement = { query: string; format: SqlFormat };

const TABLES = SQL_TABLES.map(({ name, columns }) => `\`${name}\`: ${columns.join(', ')}.`).join(' ');

export function sqlRoute(deps: SqlDeps): Route {
  const running = new Set<string>();
  const unknown = new UnknownCharges(deps.pool, deps.logger);
  return route({
    method: 'post',
    path: '/v1/sql',
    scope: 'monitors:write',
    operationId: 'runSql',
    tag: 'SQL',
    summary: 'Run a SELECT over your matches',
    description: `Runs one SELECT in the DuckDB dialect over the rows of your monitors from the last 30 days, a few seconds behind. ${TABLES} It runs in its own process, which has these rows and nothing else. A statement can take ${SQL_LIMITS.seconds} s and ${SQL_LIMITS.memoryMb} MB of memory, and return 100,000 rows or ${SQL_LIMITS.resultMb} MB; as JSON, a row has at most 1 MB. Integers that a number cannot hold exactly are strings. In CSV, an apostrophe precedes anything that a spreadsheet could take for a formula, also after \`;\`, a tab or a line break within a text. One statement per account runs at a time. Costs 1 credit per million rows of your tables (\`rows_read\`), rounded up. Failed statements are free, and together they can take 60 s a day (UTC).`,
    body: { schema: sqlBody },
    responses: [
      {
        status: 200,
        description: 'The rows.',
        content: [
          { schema: sqlAnswerSchema },
          {
            type: 'text/csv',
            schema: { type: 'string' },
            examples: { rows: 'subreddit,found\nCoffee,128\nespresso,41\n' },
          },
          { type: 'application/vnd.apache.parquet', schema: { type: 'string' }, examples: { rows: 'PAR1…' } },
        ],
        headers: [{ name: 'X-Credits-Used' }],
      },
    ],
    errors: ['insufficient_credits', 'service_unavailable'],
    charges: true,
    async handle(request) {
      if (request.caller.balance < 1)
        throw new ApiError('insufficient_credits', 'A statement costs at least 1 credit.');
      const { accountId } = request.caller;
      if (running.has(accountId)) throw slotTaken();
      if (running.size >= MAX_AT_ONCE) {
        const message = 'Too many statements are running. Try again shortly.';
        throw new ApiError('service_unavailable', message, { retryAfter: RETRY_AFTER_S });
      }
      running.add(accountId);
      try {
        return await runInSlot({ ...deps, unknown }, request, request.body);
      } finally {
        running.delete(accountId);
      }
    },
  });
}

const slotTaken = (): ApiError =>
  new ApiError('rate_limited', 'Another statement is already running for this account. Wait for it to finish.', {
    retryAfter: RETRY_AFTER_S,
  });

/** Runs the statement in the account's slot. A failed one uses up the daily allowance instead of credits. */
async function runInSlot(deps: StatementDeps, request: RouteRequest, statement: Statement): Promise<RouteResponse> {
  const { pool, logger } = deps;
  const { accountId } = request.caller;
  const token = randomUUID();
  const slot = await takeStatementSlot(pool, accountId, token);
  if (slot === 'busy') throw slotTaken();
  if (slot === 'used_up') {
    const message = `Failed statements took ${FAILED_MS_PER_DAY / 1_000} seconds today (UTC), which is the limit.`;
    throw new ApiError('rate_limited', message, { retryAfter: secondsUntilTomorrow() });
  }
  const begun = performance.now();
  let isCounted = true;
  try {
    const answer = await runAndCharge(deps, request, statement);
    isCounted = false;
    return answer;
  } catch (error) {
    isCounted = !(error instanceof ApiError && error.status === OUTAGE_STATUS);
    throw error instanceof SqlRefused ? invalidRequest([{ field: 'query', message: error.message }]) : error;
  } finally {
    // The slot expires by itself when this fails, and a response that was paid for must not fail with it.
    await releaseStatementSlot(pool, accountId, token, isCounted ? performance.now() - begun : 0).catch(
      (error: unknown) => {
        logger.warn({ err: error }, 'the slot of a statement could not be released');
      },
    );
  }
}

async function runAndCharge(deps: StatementDeps, request: RouteRequest, statement: Statement): Promise<RouteResponse> {
  const { accountId } = request.caller;
  const result = await run(deps, request, statement);
  const credits = Math.max(1, Math.ceil(result.rowsRead / ROWS_FOR_A_CREDIT));
  // Everything that can fail comes before the charge.
  const answer = answerOf(result, statement.format, credits);
  request.throwIfDisconnected();
  const charged = chargedRequest(request);
  const move = { accountId, kind: 'sql', credits, reference: randomUUID(), request: charged } as const;
  // In a transaction, so that a server that answers too late does not commit a charge of a request that failed.
  const balance = await deps.unknown.watch(move, () =>
    inTransaction(deps.pool, (client) => chargeLocally(client, move)),
  );
  if (balance === undefined) {
    throw new ApiError('insufficient_credits', `The statement costs ${credits} credits, more than the account has.`);
  }
  return { ...answer, charged: { credits, balance } };
}

/** Writes the account's rows to a new folder, and runs the statement there. */
async function run(
  { pool, clickhouse, sqlFolder }: SqlDeps,
  request: RouteRequest,
  statement: Statement,
): Promise<SqlResult> {
  const monitors = await listMonitors(pool, request.caller.accountId);
  const disconnected = request.signal ?? new AbortController().signal;
  const late = AbortSignal.timeout(READ_MS);
  const folder = mkdtempSync(join(sqlFolder, 'statement-'));
  try {
    const ids = monitors.map(({ id }) => id);
    await writeAccountRows(clickhouse, folder, ids, AbortSignal.any([disconnected, late])).catch((error: unknown) => {
      if (error instanceof TooManyRows) throw new SqlRefused(TOO_LARGE);
      throw late.aborted || isArchiveUnavailable(error) ? engineUnavailable(UNAVAILABLE) : error;
    });
    return await runInBox(folder, statement, disconnected);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function answerOf(result: SqlResult, format: SqlFormat, credits: number): RouteResponse {
  if (format === 'json') {
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };
    return { status: 200, body: sqlAnswer(result, credits), headers };
  }
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/vnd.apache.parquet';
  return { status: 200, body: result.bytes, headers: { 'Content-Type': type } };
}

function secondsUntilTomorrow(): number {
  return SECONDS_PER_DAY - (Math.floor(Date.now() / 1_000) % SECONDS_PER_DAY);
}
