import type { Stryker } from '@stryker-mutator/core';

/**
 * Mutation tests of shared/matching: `npm run mutate`, see CONTRIBUTING.md. Stryker copies the project into a sandbox,
 * switches one small change of the code on at a time, and runs the unit tests that reach it: a mutant that no test
 * notices has survived.
 */
const options: ConstructorParameters<typeof Stryker>[0] = {
  mutate: ['shared/matching/**/*.ts'],
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  // The tests of a mutant are known by coverage, so Vitest need not look for related files again.
  vitest: { configFile: 'stryker-vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // Mutants in code that runs when a module is loaded stay in: those tables are half of the matching rules. Each costs
  // a run of all tests, which takes about a second; the warning would advise against them.
  ignoreStatic: false,
  warnings: { slow: false, unknownOptions: true, preprocessorErrors: true, unserializableOptions: true },
  concurrency: 2,
  // A timeout counts as detected, so a busy machine must not cause one. Endless loops are found otherwise, see
  // stryker-vitest.config.ts; this is for those that no mutant lies in.
  timeoutMS: 5000,
  timeoutFactor: 1,
  dryRunTimeoutMinutes: 10,
  // Vitest strips types without checking them, so nothing has to be switched off.
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
