/**
 * fast-check for mutation runs (stryker-vitest.config.ts puts it in the place of the package): the same seed for every mutant, so that
 * the verdict depends on the code alone; few runs; and no search for the smallest counterexample, which nobody would read.
 */
import type { IAsyncProperty, IProperty, Parameters } from 'fast-check';
import fc from 'fast-check';

const MOST_RUNS = 200;

export * from 'fast-check';

export function assert<Ts>(property: IProperty<Ts> | IAsyncProperty<Ts>, parameters: Parameters<Ts> = {}): unknown {
  const numRuns = Math.min(parameters.numRuns ?? 100, MOST_RUNS);
  return fc.assert(property, { seed: 1, ...parameters, numRuns, endOnFailure: true });
}

export default { ...fc, assert };
