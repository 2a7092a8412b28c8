import { isArchiveUnavailable } from '../../../shared/clickhouse/clickhouse-unavailable.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { OUTAGE_STATUS } from '../../../shared/rules/error-codes.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import { Semaphore } from '../../../shared/runtime/semaphore.ts';
import { sharedResult } from '../../../shared/runtime/single-flight.ts';
import { ApiError, engineUnavailable } from '../http/api-error.ts';

/** The archive has ten connections. Trends use up to four and previews two; one is left for inserts and checks. */
const QUERIES_AT_ONCE = 3;
const QUERIES_PER_ACCOUNT = 2;

/** For all queries of a search, with their waits. Requests are answered within 10 s, even if ClickHouse hangs. */
const SEARCH_DEADLINE_MS = 7_000;
/** How long a check waits for ClickHouse, and how long its outcome serves other searches. */
const CHECK_MS = 1_000;
const TIMEOUT_MESSAGE = 'ClickHouse did not answer in time';

/** The same search would end the same way at once. */
const TOO_LONG_RETRY_AFTER_S = 60;
const TOO_LONG =
  'The search takes too long. Search for rarer words. Nothing was charged, but the request counts toward the daily limit, if there is one.';

/** Runs a query of one search. @throws ApiError internal_error (503); the reason of the client's signal */
export type ArchiveQuery = <T>(read: (signal: AbortSignal) => Promise<T>) => Promise<T>;

interface Search {
  accountId: string;
  disconnected: AbortSignal | undefined;
  /** By performance.now(). */
  deadlineAt: number;
  /** How long its queries waited for others. */
  waitedMs: number;
}

/** Bounds the queries of comment searches, for an account and for the process, and each search by a deadline. */
export class ArchiveQueries {
  private readonly queues = new Semaphore(QUERIES_AT_ONCE, QUERIES_PER_ACCOUNT);
  private readonly isAnswering: () => Promise<boolean>;
  private readonly deadlineMs: number;

  constructor(clickhouse: Pick<ClickHouseClient, 'ping'>, deadlineMs = SEARCH_DEADLINE_MS) {
    this.isAnswering = sharedResult(async () => {
      const { success } = await clickhouse.ping({ select: true, abort_signal: AbortSignal.timeout(CHECK_MS) });
      return success;
    }, CHECK_MS);
    this.deadlineMs = deadlineMs;
  }

  /**
   * Begins a search. Its deadline begins now.
   *
   * @param disconnected aborts when the client disconnects
   */
  begin(accountId: string, disconnected: AbortSignal | undefined): ArchiveQuery {
    const search: Search = { accountId, disconnected, deadlineAt: performance.now() + this.deadlineMs, waitedMs: 0 };
    return (read) => this.run(search, read);
  }

  /**
   * Aborts the query at the deadline, or when the client disconnects. A hanging query would otherwise keep one of the
   * connections that the archiver shares, and other queries would queue for it.
   */
  private async run<T>(search: Search, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { accountId, disconnected, deadlineAt } = search;
    disconnected?.throwIfAborted();
    const ms = Math.max(0, Math.ceil(deadlineAt - performance.now()));
    const deadline = AbortSignal.timeout(ms);
    const ended = disconnected ? AbortSignal.any([deadline, disconnected]) : deadline;
    const endWait = countWait(search);
    const query = this.queues.run(accountId, async () => {
      endWait();
      ended.throwIfAborted();
      return read(ended);
    });
    try {
      return await withDeadline(query, ms, TIMEOUT_MESSAGE);
    } catch (error) {
      endWait();
      disconnected?.throwIfAborted();
      if (deadline.aborted || (error as Error).message === TIMEOUT_MESSAGE) throw await this.timeoutError(search);
      throw isArchiveUnavailable(error) ? unavailable() : error;
    }
  }

  /** Why a search did not end before its deadline. */
  private async timeoutError({ waitedMs }: Search): Promise<ApiError> {
    if (waitedMs > this.deadlineMs / 2) {
      return engineUnavailable('Too many comment searches are running. Try again shortly. Nothing was charged.');
    }
    if (!(await this.isAnswering())) return unavailable();
    const options = { status: OUTAGE_STATUS, retryAfter: TOO_LONG_RETRY_AFTER_S, takesDailySlot: true };
    return new ApiError('internal_error', TOO_LONG, options);
  }
}

/** Adds the time until the returned function is first called to the waits of the search. */
function countWait(search: Search): () => void {
  const begunAt = performance.now();
  let waits = true;
  return () => {
    if (waits) search.waitedMs += performance.now() - begunAt;
    waits = false;
  };
}

function unavailable(): ApiError {
  return engineUnavailable('The comment archive is unavailable. Try again later. Nothing was charged.');
}
