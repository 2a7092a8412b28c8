/**
 * `npm run --silent bench -- machine`: what the machine gives at this moment, in about two seconds: a read
 * anywhere in 256 MB, and a write until it is stored. Figures of other benchmarks of different days compare only
 * where these are alike: `soak` reports them too.
 */
import type { Report } from '../main.ts';
import { machineFigures } from '../shared/machine.ts';

export default async function bench(report: Report): Promise<void> {
  report(await machineFigures());
}
