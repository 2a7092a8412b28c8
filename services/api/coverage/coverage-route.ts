import { coverageQuery } from '../../../schemas/api/coverage.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { readCoverageHours } from '../../../shared/stores/crawl/coverage-hours.ts';
import { countGapsByHour, countGapsOpenAt } from '../../../shared/stores/crawl/coverage-sources.ts';
import { listGaps } from '../../../shared/stores/crawl/crawl-gaps.ts';
import { readForumCalls } from '../../../shared/stores/crawl/forum-calls.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { coverageAnswer } from './coverage-answer.ts';
import { coverageRange } from './coverage-range.ts';
import { MeasuredHours } from './measured-hours.ts';

/** How many gaps an answer lists. */
const MAX_GAPS = 200;

export interface CoverageDeps {
  pool: Queryable;
  clock: Clock;
}

/** GET /v1/coverage: what the service saw of the forum in each hour, and what it missed. Free, for every key. */
export function coverageRoute(deps: CoverageDeps): Route {
  const measured = new MeasuredHours();
  return {
    method: 'get',
    path: '/v1/coverage',
    scope: 'any key',
    readsQuery: true,
    handle: (call) => show({ ...deps, measured }, call),
  };
}

async function show(
  { pool, clock, measured }: CoverageDeps & { measured: MeasuredHours },
  { query }: Call,
): Promise<Answer> {
  const now = clock();
  const range = coverageRange(parseRequest(coverageQuery, query, 'query'), now);
  const [from, to] = [new Date(range.from), new Date(range.to)];
  const [hours, calls, gapsByHour, openBefore, gaps] = await Promise.all([
    readCoverageHours(pool, from, to),
    readForumCalls(pool, from, to),
    countGapsByHour(pool, from, to),
    countGapsOpenAt(pool, from),
    listGaps(pool, { ...range, limit: MAX_GAPS }),
  ]);
  return {
    status: 200,
    body: coverageAnswer(range, { hours, calls, gapsByHour, openBefore, gaps }, { now, measured }),
  };
}
