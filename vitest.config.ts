import { defineConfig } from 'vitest/config';

// Node processes that tests start load what was compiled before, as those of `npm start` do: half the time of a start.
process.env.NODE_COMPILE_CACHE ??= `${import.meta.dirname}/node_modules/.cache/compiled`;

const FIXED_SEED = 'test/support/runner/fixed-seed.ts';
const ENGINES = 'test/support/runner/start-engines.ts';

/** Two lanes: `npm test` runs the projects unit and integration, `npm run test:long` runs the project long. */
export default defineConfig({
  test: {
    pool: 'forks',
    // Most files wait for engines, timers and processes most of the time.
    maxWorkers: 4,
    // A worker loads modules once for all of its files. That is safe because no module keeps state; a file that needs
    // a process of its own starts one.
    isolate: false,
    // Node runs the sources itself, as it does in production, so that a coverage run sees every process alike.
    experimental: { viteModuleRunner: false },
    // Generous, since they cost nothing while a test passes: a busy machine makes a test six times as long.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{unit,architecture,contract}/**/*.test.ts'],
          setupFiles: [FIXED_SEED],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: [ENGINES],
          setupFiles: [FIXED_SEED],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          globalSetup: [ENGINES],
          setupFiles: [FIXED_SEED],
        },
      },
    ],
  },
});
