import type { Stryker } from '@stryker-mutator/core';

/**
 * Mutation tests of shared/matching and of rules as text: `npm run mutate`, see CONTRIBUTING.md. Stryker copies the
 * project into a sandbox, activates one small change of the code at a time, and runs the unit tests that reach it. A
 * mutant that no test notices has survived.
 */
const options: ConstructorParameters<typeof Stryker>[0] = {
  mutate: ['shared/matching/**/*.ts', 'shared/monitors/rules/*.ts'],
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  // Coverage already tells which tests reach a mutant, so Vitest need not search for related files.
  vitest: { configFile: 'stryker-vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // Include mutants in code that runs when a module is loaded, because those tables are half of the matching rules.
  // Each of them needs a run of all tests, which takes about a second. The `slow` warning would advise against them.
  ignoreStatic: false,
  warnings: { slow: false, unknownOptions: true, preprocessorErrors: true, unserializableOptions: true },
  concurrency: 2,
  // A timeout counts as detected, so a busy machine must not cause one. stryker-vitest.config.ts detects endless loops;
  // this limit is for loops without a mutant in them.
  timeoutMS: 5000,
  timeoutFactor: 1,
  dryRunTimeoutMinutes: 10,
  // Vitest strips types without checking them, so no check has to be disabled.
  disableTypeChecks: false,
  tempDirName: '.mutation/sandbox',
  cleanTempDir: 'always',
  reporters: ['progress-append-only', 'clear-text', 'html', 'json'],
  clearTextReporter: { logTests: false, reportTests: false },
  htmlReporter: { fileName: '.mutation/report.html' },
  jsonReporter: { fileName: '.mutation/report.json' },
  thresholds: { high: 95, low: 85, break: 85 },
};

export default options;
