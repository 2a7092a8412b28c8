import type { SpikeResource } from '../../../schemas/api/trends.ts';
import type { Spike } from './find-spikes.ts';

/** A spike as answers and events show it. */
export function spikeResource({ hour, count, median, scale, score, days }: Spike): SpikeResource {
  const rounded = (value: number) => Math.round(value * 100) / 100;
  return { at: new Date(hour).toISOString(), count, median, scale: rounded(scale), score: rounded(score), days };
}
