import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/runner/longest-first.ts';

/**
 * Files of all projects share these workers. Two cores are enough for four: most files wait for engines, timers and
 * processes most of the time, and the unit tests, which only compute, fill what the others leave.
 */
const WORKERS = 4;

const FIXED_SEED = 'test/support/runner/fixed-seed.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: WORKERS,
    // A worker loads modules once for all of its files, which saves a fifth of the unit tests' CPU time. That is safe
    // because no module keeps state; a file that needs a process of its own starts one.
    isolate: false,
    sequence: { sequencer: LongestFirst, groupOrder: 1 },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/architecture/**/*.test.ts', 'test/contract/**/*.test.ts'],
          setupFiles: [FIXED_SEED],
          // On a loaded machine a property test of ten seconds takes a minute.
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/runner/start-engines.ts'],
          setupFiles: [FIXED_SEED],
          // Engines are shared, and a starved share of two cores makes a test of half a minute six times as long.
          testTimeout: 300_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'end-to-end',
          include: ['test/end-to-end/**/*.test.ts'],
          // The slot of a file ends with its process (take-installation-slot.ts).
          isolate: true,
          globalSetup: ['test/support/runner/installation-slots.ts'],
          setupFiles: ['test/support/runner/take-installation-slot.ts'],
          testTimeout: 240_000,
          // A start may take 110 s, and a hook does more than that.
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
