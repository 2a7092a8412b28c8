import { parseArgs } from 'node:util';
import { findSpikes, judgeCount, LEAST_MATCHES, LEAST_SCORE } from '../../../shared/domain/spikes/find-spikes.ts';
import type { Bench } from '../main.ts';
import { seededRandom } from '../shared/matcher-random.ts';
import type { Random } from '../shared/matcher-random.ts';
import { matchCounts } from './match-counts.ts';
import type { CountModel } from './match-counts.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** A monitor is judged in this many days, after the 28 that its hours are compared with. */
const JUDGED_DAYS = 30;
const HISTORY_DAYS = 28;
const MEANS = [0.1, 1, 3, 10, 30, 100, 300];
const MODELS: CountModel[] = ['poisson', 'weekly', 'clusters'];
/** Bursts whose size is looked for. */
const BURSTS = 400;

/**
 * `spikes [--monitors N] [--seed N]`: how often the judgement of spikes is wrong, and what it finds, on generated
 * counts (`matchCounts`) of 58 days, of which the last 30 are judged.
 *
 * - `false_a_month`: spikes a monitor and 30 days where nothing was added. With `clusters`, a thread with many matches
 *   is one of them, though its reader might call it a spike.
 * - `found_50`, `found_95`: how many matches have to come in one hour beside the usual ones so that half of such
 *   bursts, or 95 of 100, are found; `busiest_95` the second as a multiple of the busiest hour’s usual matches.
 */
const bench: Bench = (report, args) => {
  const { values } = parseArgs({ args, options: { monitors: { type: 'string' }, seed: { type: 'string' } } });
  const monitors = Number(values.monitors ?? 300);
  const random = seededRandom(Number(values.seed ?? 1));
  for (const model of MODELS) {
    for (const mean of MEANS) {
      const series = Array.from({ length: monitors }, () =>
        matchCounts(model, mean, (HISTORY_DAYS + JUDGED_DAYS) * DAY_HOURS, random),
      );
      const spikes = series.reduce((sum, counts) => sum + countSpikes(counts), 0);
      const sizes = burstSizes(series, random);
      const [half, most] = [0.5, 0.95].map((share) => sizes[Math.ceil(share * sizes.length) - 1]!);
      report({
        model,
        matches_an_hour: mean,
        monitors,
        false_spikes: spikes,
        false_a_month: Math.round((spikes / monitors) * 1_000) / 1_000,
        found_50: half,
        found_95: most,
        busiest_95: Math.round((most! / (1.5 * mean)) * 10) / 10,
      });
    }
  }
  return Promise.resolve();
};
export default bench;

function countSpikes(counts: readonly number[]): number {
  return findSpikes({
    from: HISTORY_DAYS * DAY_HOURS * HOUR_MS,
    to: counts.length * HOUR_MS,
    counts: new Map(counts.map((count, hour) => [hour * HOUR_MS, count])),
    isComparable: (hour) => hour >= 0,
  }).length;
}

/** The smallest burst that is found, of randomly chosen hours, ascending. */
function burstSizes(series: readonly (readonly number[])[], random: Random): number[] {
  const sizes = Array.from({ length: BURSTS }, () => {
    const counts = series[Math.floor(random() * series.length)]!;
    const hour = (HISTORY_DAYS + Math.floor(random() * JUDGED_DAYS)) * DAY_HOURS + Math.floor(random() * DAY_HOURS);
    const before = Array.from({ length: HISTORY_DAYS }, (_, day) => counts[hour - (day + 1) * DAY_HOURS]!);
    let added = 0;
    const isFound = (count: number) => count >= LEAST_MATCHES && judgeCount(count, before).score >= LEAST_SCORE;
    while (!isFound(counts[hour]! + added)) added += 1;
    return added;
  });
  return sizes.sort((a, b) => a - b);
}
