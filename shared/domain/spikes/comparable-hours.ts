const HOUR_MS = 3_600_000;

/** What a monitor was, ascending, in real time. */
export interface WatchHistory {
  versions: readonly { since: Date }[];
  states: readonly { at: Date; status: string }[];
}

/**
 * Tells whether hours can be compared: the monitor was active during all of the earlier one, and its rule was already
 * the one that decided at the end of the later one. Hours are given by their start in milliseconds since 1970.
 *
 * @param knownSince matches from before are not kept, in milliseconds since 1970
 */
export function comparableHours(
  { versions, states }: WatchHistory,
  knownSince: number,
): (hour: number, judged: number) => boolean {
  const changes = versions.map(({ since }) => since.getTime());
  const stretches = states.flatMap(({ at, status }, index) => {
    const end =
      states
        .slice(index + 1)
        .find((next) => next.status !== 'active')
        ?.at.getTime() ?? Infinity;
    return status === 'active' ? [{ from: at.getTime(), to: end }] : [];
  });
  return (hour, judged) => {
    const isRule = !changes.some((since) => since > hour && since < judged + HOUR_MS);
    return hour >= knownSince && isRule && stretches.some(({ from, to }) => from <= hour && to >= hour + HOUR_MS);
  };
}
