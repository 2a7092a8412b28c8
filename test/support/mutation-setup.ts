/** Runs before each test file of a mutation run (stryker-vitest.config.ts). */
import fc from 'fast-check';
import { beforeEach } from 'vitest';

// The same examples for every mutant, so that the verdict depends on the code alone, and no search for the smallest
// counterexample, which nobody would read.
fc.configureGlobal({ seed: 1, endOnFailure: true });

const stryker = (globalThis as { __stryker__?: { passes?: number } }).__stryker__;

beforeEach(() => {
  if (stryker) stryker.passes = 0;
});
