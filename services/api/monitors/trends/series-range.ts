import type { z } from 'zod';
import type { timeseriesQuery } from '../../../../schemas/api/trends.ts';
import { invalidRequest } from '../../http/invalid-request.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Older matches are not kept. */
export const KEPT_MS = 30 * DAY_MS;
const MAX_DAYS = 31;
const DEFAULT_DAYS = { hour: 7, day: 30 } as const;

/** Whole intervals in milliseconds since 1970: from the start of the first until the end of the last. */
export interface SeriesRange {
  from: number;
  to: number;
}

/**
 * The whole intervals that a query asks for, none after the one of `now` (milliseconds since 1970).
 *
 * @throws ApiError invalid_request
 */
export function seriesRange(
  { interval, from, to }: Pick<z.output<typeof timeseriesQuery>, 'interval' | 'from' | 'to'>,
  now: number,
): SeriesRange {
  const length = interval === 'hour' ? HOUR_MS : DAY_MS;
  const startOf = (time: number) => Math.floor(time / length) * length;
  const latest = startOf(now) + length;
  const wantedFrom =
    from === undefined ? (to === undefined ? now : Date.parse(to)) - DEFAULT_DAYS[interval] * DAY_MS : Date.parse(from);
  if (to !== undefined && wantedFrom >= Date.parse(to)) {
    throw invalidRequest([{ field: 'from', message: 'must be before `to`' }]);
  }
  const start = startOf(wantedFrom);
  if (start >= latest) throw invalidRequest([{ field: 'from', message: 'must not be in the future' }]);
  const wantedTo = to === undefined ? now : Math.min(Date.parse(to), latest);
  if (wantedTo - wantedFrom > MAX_DAYS * DAY_MS) {
    throw invalidRequest([{ field: 'from', message: `must be at most ${MAX_DAYS} days before \`to\`` }]);
  }
  return { from: start, to: Math.max(Math.ceil(wantedTo / length) * length, start + length) };
}
