import { invalidRequest } from '../http/invalid-request.ts';

/** UTC days, both included, as YYYY-MM-DD. */
export interface UsageRange {
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 92;
/** The database has no year 0. */
const FIRST_DAY = Date.parse('0001-01-01');

/**
 * The range of a query: by default the last 30 days, today included.
 *
 * @param now milliseconds since 1970
 * @throws ApiError invalid_request for a range that is backwards or longer than 92 days
 */
export function usageRange(
  { from, to }: Partial<Record<keyof UsageRange, string | undefined>>,
  now: number,
): UsageRange {
  const last = to ?? dayOf(now);
  const first = from ?? dayOf(Math.max(FIRST_DAY, Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS));
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  if (days < 1) {
    const default_ = to === undefined ? `, which is today (${last}, UTC) when absent` : '';
    throw invalidRequest([{ field: 'from', message: `must not be later than "to"${default_}` }]);
  }
  if (days > MAX_DAYS) {
    throw invalidRequest([{ field: 'from', message: `must be at most ${MAX_DAYS - 1} days before "to"` }]);
  }
  return { from: first, to: last };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
