const DAY_MS = 86_400_000;

/** The last `count` UTC days, oldest first, `now` (milliseconds since 1970) being in the last one: YYYY-MM-DD. */
export function daysUntil(now: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}
