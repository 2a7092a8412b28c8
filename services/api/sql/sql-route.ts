import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { sqlBody } from '../../../schemas/api/sql.ts';
import { isClickhouseAway } from '../../../shared/clickhouse/clickhouse-away.ts';
import { OUTAGE_STATUS } from '../../../shared/domain/error-codes.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { charge } from '../../../shared/stores/ledger/ledger.ts';
import { listMonitors } from '../../../shared/stores/monitors/monitors.ts';
import { SqlRefused } from '../../../shared/stores/sql/judge-sql.ts';
import { answersOthers, prepareSandbox, prepareSql, runSql, SqlOverdue } from '../../../shared/stores/sql/run-sql.ts';
import type { SqlEngine, SqlFormat, SqlResult } from '../../../shared/stores/sql/run-sql.ts';
import { endSqlTurn, FAILED_MS_PER_DAY, holdSqlTurn, takeSqlTurn } from '../../../shared/stores/sql/sql-turns.ts';
import { ApiError, engineAway } from '../http/api-error.ts';
import { chargedRequest } from '../http/charged-request.ts';
import { invalidRequest, parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { sqlAnswer } from './sql-answer.ts';

export interface SqlDeps {
  pool: Pool;
  /** undefined: this installation answers 503. */
  sqlEngine: SqlEngine | undefined;
  logger: Logger;
}

/**
 * Statements at once in this process, one of an account, so that its refused ones take no place of others. Further ones
 * are refused, so that they take no memory while they wait.
 */
const MOST_AT_ONCE = 2;
const RETRY_AFTER_S = 2;
const PREPARE_MS = 6_000;
const SECONDS_PER_DAY = 86_400;
const AWAY = 'The archive does not answer. Retry later.';
const OVERDUE = 'takes longer than 10 seconds, and as it cannot be interrupted, it took all that failed ones may today';
const ROUTE = { method: 'post', path: '/v1/sql' } as const;

/** A process runs a fixed number of statements at once. A statement holds its place until the engine has ended it. */
interface Place {
  heldUntil: Promise<void>;
}

interface Asked {
  query: string;
  format: SqlFormat;
  place: Place;
}

/** One SELECT over the account's own rows. */
export function sqlRoute(deps: SqlDeps): Route {
  const running = new Set<string>();
  let sandbox: Promise<void> | undefined;
  return {
    ...ROUTE,
    scope: 'monitors:read',
    readsBody: true,
    charges: true,
    produces: ['application/json', 'text/csv', 'application/vnd.apache.parquet'],
    async handle(call) {
      const { query, format } = parseRequest(sqlBody, call.body === undefined ? {} : call.body, 'body');
      const { sqlEngine } = deps;
      if (sqlEngine === undefined) throw unavailable('This installation has no SQL.');
      if (call.caller.balance < 1) throw new ApiError('insufficient_credits', 'A statement costs at least 1 credit.');
      const { accountId } = call.caller;
      if (running.has(accountId)) throw turnTaken();
      if (running.size >= MOST_AT_ONCE) throw unavailable('Other statements are running. Retry in a moment.');
      running.add(accountId);
      const place: Place = { heldUntil: Promise.resolve() };
      try {
        // A failure is tried again with the next statement.
        sandbox ??= prepareSandbox(sqlEngine).catch((error: unknown) => {
          sandbox = undefined;
          deps.logger.error({ err: error }, `the empty database ${sqlEngine.sandbox} for POST /v1/sql cannot be made`);
          throw engineAway(AWAY);
        });
        await sandbox;
        return await inTurn(deps, sqlEngine, call, { query, format, place });
      } finally {
        void place.heldUntil.then(() => running.delete(accountId));
      }
    },
  };
}

const unavailable = (message: string): ApiError =>
  new ApiError('service_unavailable', message, { retryAfter: RETRY_AFTER_S });

const turnTaken = (): ApiError =>
  new ApiError('rate_limited', 'Another statement of this account is running. Wait for its answer.', {
    retryAfter: RETRY_AFTER_S,
  });

/** Runs the statement while the account has its turn; what fails uses up the daily allowance instead of credits. */
async function inTurn({ pool, logger }: SqlDeps, engine: SqlEngine, call: Call, asked: Asked): Promise<Answer> {
  const { accountId } = call.caller;
  const token = randomUUID();
  const turn = await takeSqlTurn(pool, accountId, token);
  if (turn === 'busy') throw turnTaken();
  if (turn === 'used_up') {
    const message = `Failed statements of today took ${FAILED_MS_PER_DAY / 1_000} seconds, all that they may.`;
    throw new ApiError('rate_limited', message, { retryAfter: secondsUntilTomorrow() });
  }
  // The turn ends by itself when this fails, and an answer that was paid for must not fail with it.
  const endTurn = (failedMs: number): Promise<void> =>
    endSqlTurn(pool, accountId, token, failedMs).catch((error: unknown) => {
      logger.warn({ err: error }, 'the turn of a statement could not be given back');
    });
  const begun = performance.now();
  try {
    const answer = await runAndCharge(pool, engine, call, asked);
    await endTurn(0);
    return answer;
  } catch (error) {
    if (!(error instanceof SqlOverdue)) {
      const failedMs = performance.now() - begun;
      const told = answerTo(error);
      const isAway = told instanceof ApiError && told.status === OUTAGE_STATUS && !(await answersOthers(engine));
      await endTurn(isAway ? 0 : failedMs);
      throw told;
    }
    asked.place.heldUntil = error.ended;
    const isItsFault = await answersOthers(engine);
    await holdSqlTurn(pool, accountId, token, isItsFault ? FAILED_MS_PER_DAY : 0);
    void error.ended.then(() => endTurn(0));
    throw isItsFault ? answerTo(new SqlRefused(OVERDUE)) : engineAway(AWAY);
  }
}

async function runAndCharge(pool: Pool, engine: SqlEngine, call: Call, { query, format }: Asked): Promise<Answer> {
  const { accountId } = call.caller;
  const monitors = await listMonitors(pool, accountId);
  const ids = monitors.map(({ id }) => id);
  const prepared = await prepareSql(engine, query, ids, AbortSignal.timeout(PREPARE_MS));
  const begun = performance.now();
  const result = await runSql(engine, prepared, format);
  const credits = Math.max(1, Math.ceil((performance.now() - begun) / 1_000));
  // Everything that can fail comes before the charge.
  const answer = answerOf(result, format, credits);
  call.refuseAbandoned();
  const request = chargedRequest(call, ROUTE);
  const move = { accountId, kind: 'sql', credits, reference: randomUUID(), request } as const;
  // In a transaction, so that a server that answers too late does not commit what was answered as not charged.
  const balance = await inTransaction(pool, (client) => charge(client, move));
  if (balance === undefined) {
    throw new ApiError('insufficient_credits', `The statement took ${credits} credits, more than the account has.`);
  }
  return { ...answer, charged: { credits, balance } };
}

function answerOf(result: SqlResult, format: SqlFormat, credits: number): Answer {
  if (format === 'json') return { status: 200, body: sqlAnswer(result, credits), largeList: 'rows' };
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/vnd.apache.parquet';
  return { status: 200, body: result.bytes, headers: { 'Content-Type': type } };
}

function answerTo(error: unknown): unknown {
  if (error instanceof SqlRefused) return invalidRequest([{ field: 'query', message: error.message }]);
  if (isClickhouseAway(error) || (error as Error).name === 'TimeoutError' || (error as Error).name === 'AbortError') {
    return engineAway(AWAY);
  }
  return error;
}

function secondsUntilTomorrow(): number {
  return SECONDS_PER_DAY - (Math.floor(Date.now() / 1_000) % SECONDS_PER_DAY);
}
