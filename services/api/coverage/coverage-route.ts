import { LRUCache } from 'lru-cache';
import { coverageQuery } from '../../../schemas/api/coverage.ts';
import type { Coverage } from '../../../schemas/api/coverage.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { SingleFlight } from '../../../shared/runtime/single-flight.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { countGapsByHour, countGapsOpenAt } from '../../../shared/stores/crawl/coverage-sources.ts';
import { listGaps } from '../../../shared/stores/crawl/crawl-gaps.ts';
import { readForumCalls } from '../../../shared/stores/crawl/forum-calls.ts';
import { PacedTurns } from '../http/account-slots.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Route } from '../http/route.ts';
import { coverageAnswer } from './coverage-answer.ts';
import { coverageRange } from './coverage-range.ts';
import type { CoverageRange } from './coverage-range.ts';
import { MeasuredHours } from './measured-hours.ts';

/** How many gaps an answer lists. */
const MAX_GAPS = 200;
/** Hours are measured every ten seconds. */
const FRESH_MS = 5_000;
/** An answer about 31 days has 0.7 MB. */
const MAX_KEPT = 16;

export interface CoverageDeps {
  pool: Queryable;
  clock: Clock;
}

/**
 * GET /v1/coverage: what the service saw of the forum in each hour, and what it missed. Free, for every key: so answers
 * are shared, and what is computed anew takes turns.
 */
export function coverageRoute({ pool, clock }: CoverageDeps): Route {
  const measured = new MeasuredHours(pool);
  const answers = new LRUCache<string, Uint8Array>({ max: MAX_KEPT, ttl: FRESH_MS });
  const flights = new SingleFlight<Uint8Array>();
  const turns = new PacedTurns('coverage');
  return {
    method: 'get',
    path: '/v1/coverage',
    scope: 'any key',
    readsQuery: true,
    async handle({ query, caller, signal }) {
      const range = coverageRange(parseRequest(coverageQuery, query, 'query'), clock());
      const key = `${range.from} ${range.to}`;
      const compute = async (abandoned: AbortSignal): Promise<Uint8Array> => {
        const answer = await turns.take(caller.accountId, () => read(pool, measured, range, clock), abandoned);
        const bytes = Buffer.from(JSON.stringify(answer));
        answers.set(key, bytes);
        return bytes;
      };
      const body = answers.get(key) ?? (await flights.run(key, compute, signal));
      return { status: 200, body, headers: { 'Content-Type': 'application/json; charset=utf-8' } };
    },
  };
}

async function read(pool: Queryable, measured: MeasuredHours, range: CoverageRange, clock: Clock): Promise<Coverage> {
  const [from, to] = [new Date(range.from), new Date(range.to)];
  const [hours, calls, gapsByHour, openBefore, gaps] = await Promise.all([
    measured.read(from, to),
    readForumCalls(pool, from, to),
    countGapsByHour(pool, from, to),
    countGapsOpenAt(pool, from),
    listGaps(pool, { ...range, limit: MAX_GAPS }),
  ]);
  return coverageAnswer(range, { hours, calls, gapsByHour, openBefore, gaps }, clock());
}
