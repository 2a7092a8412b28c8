import type { SpikeResource } from '../../../schemas/api/trends.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** With fewer comparable days nothing is called a spike. */
const LEAST_DAYS = 14;
/** An hour is compared with the same hour of at most this many days before. */
const MOST_DAYS = 28;
/** Smaller numbers are never spikes. */
export const LEAST_MATCHES = 10;
/** How many scales above the median a spike begins. */
const LEAST_SCORE = 5;
/** The deviation of a normal distribution is this many times its median absolute deviation. */
const NORMAL_MAD = 1.4826;

/** An hour with many more matches than the same hour of the days before. */
interface Spike {
  hour: number;
  count: number;
  median: number;
  /** How far the hour usually is from its median. */
  scale: number;
  /** How many scales it is above its median. */
  score: number;
  days: number;
}

interface SpikeSearch {
  /** First and last hour to check: whole hours in milliseconds since 1970; `to` is exclusive. */
  from: number;
  to: number;
  /** Matches by the start of their hour; hours without any may be absent. */
  counts: ReadonlyMap<number, number>;
  /** Whether the monitor watched with the same rule, during all of `hour`, as at the end of `checked`. */
  isComparable: (hour: number, checked: number) => boolean;
}

export function findSpikes({ from, to, counts, isComparable }: SpikeSearch): Spike[] {
  const spikes: Spike[] = [];
  for (let hour = from; hour < to; hour += HOUR_MS) {
    const count = counts.get(hour) ?? 0;
    if (count < LEAST_MATCHES) continue;
    const before: number[] = [];
    for (let days = 1; days <= MOST_DAYS; days += 1) {
      const other = hour - days * DAY_MS;
      if (isComparable(other, hour)) before.push(counts.get(other) ?? 0);
    }
    if (before.length < LEAST_DAYS) continue;
    const scored = scoreCount(count, before);
    if (scored.score >= LEAST_SCORE) spikes.push({ hour, count, ...scored, days: before.length });
  }
  return spikes;
}

/** How far a count is above those that it is compared with, of which there is at least one. */
function scoreCount(count: number, before: readonly number[]): Pick<Spike, 'median' | 'scale' | 'score'> {
  const median = medianOf(before);
  const deviation = medianOf(before.map((other) => Math.abs(other - median)));
  const scale = Math.max(NORMAL_MAD * deviation, Math.sqrt(median), 1);
  return { median, scale, score: (count - median) / scale };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? 0) + high) / 2;
}

/** What a monitor was, ascending, in real time. */
interface WatchHistory {
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
): (hour: number, checked: number) => boolean {
  const changes = versions.map(({ since }) => since.getTime());
  const stretches = states.flatMap(({ at, status }, index) => {
    const end =
      states
        .slice(index + 1)
        .find((next) => next.status !== 'active')
        ?.at.getTime() ?? Infinity;
    return status === 'active' ? [{ from: at.getTime(), to: end }] : [];
  });
  return (hour, checked) => {
    const isRule = !changes.some((since) => since > hour && since < checked + HOUR_MS);
    return hour >= knownSince && isRule && stretches.some(({ from, to }) => from <= hour && to >= hour + HOUR_MS);
  };
}

export function spikeResource({ hour, count, median, scale, score, days }: Spike): SpikeResource {
  const rounded = (value: number) => Math.round(value * 100) / 100;
  return { at: new Date(hour).toISOString(), count, median, scale: rounded(scale), score: rounded(score), days };
}
