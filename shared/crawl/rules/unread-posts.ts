/** A stretch of post ids that was not read. */
export interface UnreadStretch {
  /** Fullnames of the posts before and after the stretch. */
  afterThing: string | undefined;
  beforeThing: string | undefined;
  /** Creation times of the posts around the stretch, in milliseconds since 1970. */
  afterAt: number | undefined;
  beforeAt: number | undefined;
  openedAt: number;
  found: number;
}

const HOUR_MS = 3_600_000;

/**
 * How many post ids of each hour are in stretches that were not read, by the start of the hour in milliseconds since
 * 1970. Ids are assumed to be spread evenly over the time of their stretch; a time that is not known is taken to be the
 * next one known. A stretch without a first or last id counts nowhere, because its length is unknown.
 */
export function unreadPostsByHour(stretches: readonly UnreadStretch[]): Map<number, number> {
  const unread = new Map<number, number>();
  for (const { afterThing, beforeThing, openedAt, found, ...times } of stretches) {
    const [first, last] = [postNumber(afterThing), postNumber(beforeThing)];
    if (first === undefined || last === undefined) continue;
    const beforeAt = times.beforeAt ?? openedAt;
    const afterAt = times.afterAt ?? beforeAt;
    const left = Math.max(0, Number(last - first) - 1 - found);
    const length = Math.max(1, beforeAt - afterAt);
    for (let hour = Math.floor(afterAt / HOUR_MS) * HOUR_MS; hour < afterAt + length; hour += HOUR_MS) {
      const within = Math.min(hour + HOUR_MS, afterAt + length) - Math.max(hour, afterAt);
      unread.set(hour, (unread.get(hour) ?? 0) + (left * within) / length);
    }
  }
  return unread;
}

/** Reads the number in a post's fullname, which is in base 36. Returns undefined for any other name. */
function postNumber(fullname: string | undefined): bigint | undefined {
  const [, id] = /^t3_([0-9a-z]{1,13})$/.exec(fullname ?? '') ?? [];
  if (id === undefined) return undefined;
  return id.split('').reduce((number, digit) => number * 36n + BigInt(parseInt(digit, 36)), 0n);
}
