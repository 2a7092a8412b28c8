import type { z } from 'zod';
import type { coverageQuery } from '../../../schemas/api/coverage.ts';
import { invalidRequest } from '../http/invalid-request.ts';

export const HOUR_MS = 3_600_000;
const DEFAULT_HOURS = 24;
const MAX_DAYS = 31;
const MAX_HOURS = MAX_DAYS * 24;

/** Whole hours in milliseconds since 1970: from the start of the first until the end of the last. */
export interface CoverageRange {
  from: number;
  to: number;
}

/**
 * The whole hours that a query asks for, none after the hour of `now` (milliseconds since 1970).
 *
 * @throws ApiError invalid_request
 */
export function coverageRange(query: z.output<typeof coverageQuery>, now: number): CoverageRange {
  const latest = endOfHour(now);
  const wantedTo = query.to === undefined ? now : Date.parse(query.to);
  const to = Math.min(endOfHour(wantedTo), latest);
  if (query.from === undefined) return { from: to - DEFAULT_HOURS * HOUR_MS, to };
  const wantedFrom = Date.parse(query.from);
  if (wantedFrom >= wantedTo) throw invalidRequest([{ field: 'from', message: 'must be before `to`' }]);
  const from = Math.floor(wantedFrom / HOUR_MS) * HOUR_MS;
  if (from >= latest) throw invalidRequest([{ field: 'from', message: 'must not be in the future' }]);
  if (to - from > MAX_HOURS * HOUR_MS) {
    throw invalidRequest([{ field: 'from', message: `must be at most ${MAX_DAYS} days before \`to\`` }]);
  }
  return { from, to };
}

function endOfHour(time: number): number {
  return Math.ceil(time / HOUR_MS) * HOUR_MS;
}
