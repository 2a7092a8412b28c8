/** Runs before each test file of a mutation run (stryker-vitest.config.ts). */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach } from 'vitest';

// The same examples for every mutant, so that the verdict depends on the code alone, and no search for the smallest
// counterexample, which nobody would read.
fc.configureGlobal({ seed: 1, endOnFailure: true });

/**
 * How many mutants each test passes in the unchanged code: written by the first run, in its sandbox, and read by all
 * others.
 */
const PASSES = 'passes.json';

/**
 * A mutant may make the code slower. Beyond this it is in an endless loop: found in a tenth of a second, where only
 * waiting would do.
 */
const maxPasses = (unchanged: number): number => 5 * unchanged + 10_000_000;

/** The same for what runs before any test: the modules themselves, and test files while they are loaded. */
const MAX_PASSES_OF_LOADING = 100_000_000;

/** Stryker's state in the worker; the passes are ours, counted by the instrumented code (stryker-vitest.config.ts). */
interface Stryker {
  activeMutant?: string;
  passes: number;
  maxPasses: number;
}
const stryker = (globalThis as { __stryker__?: Stryker }).__stryker__;

if (stryker) {
  const passes = (existsSync(PASSES) ? JSON.parse(readFileSync(PASSES, 'utf8')) : {}) as Record<string, number>;
  const isFirstRun = (): boolean => stryker.activeMutant === undefined;

  stryker.passes = 0;
  stryker.maxPasses = isFirstRun() ? Infinity : MAX_PASSES_OF_LOADING;
  beforeEach(({ task }) => {
    stryker.passes = 0;
    stryker.maxPasses = isFirstRun() ? Infinity : maxPasses(passes[`${task.file.name} ${task.name}`] ?? 0);
  });
  afterEach(({ task }) => {
    if (isFirstRun()) passes[`${task.file.name} ${task.name}`] = stryker.passes;
  });
  afterAll(() => {
    // The next test file is loaded from here on.
    stryker.passes = 0;
    stryker.maxPasses = isFirstRun() ? Infinity : MAX_PASSES_OF_LOADING;
    if (isFirstRun()) writeFileSync(PASSES, JSON.stringify(passes));
  });
}
