import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { TestSpecification, Vite } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

const at = (path: string): string => join(import.meta.dirname, path);

/** What is mutated, and its unit tests. */
const FOLDERS = ['shared/matching/', 'shared/monitors/rules/'];

/** The first failing test ends a mutant's run, so cheap tests run first and property tests last. */
class ExamplesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const hasProperties = ({ moduleId }: TestSpecification) => readFileSync(moduleId, 'utf8').includes('fast-check');
    const sorted = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1));
    return [...sorted.filter((file) => !hasProperties(file)), ...sorted.filter(hasProperties)];
  }
}

/** The instrumented code counts how often each mutant is reached. Only the first run, without a mutant, needs this. */
function withoutCounting(code: string): string {
  return code.replace('function cover() {', 'function cover() { if (ns.activeMutant) return;');
}

/**
 * Ends an endless loop by the number of mutants that it passes (see test/support/runner/mutation-setup.ts). Stryker
 * treats this hit count as a timeout.
 */
function withMostPasses(code: string): string {
  const endless = 'if (++ns.passes > ns.maxPasses) { ns.hitCount = Infinity; throw new Error("Endless loop"); }';
  return code.replace('function isActive(id) {', `function isActive(id) { ${endless}`);
}

/**
 * Each of these makes runs several times faster. Without them, or if they no longer apply to the code that Stryker
 * generates, the verdicts are the same.
 */
const quickRuns: Vite.Plugin = {
  name: 'quick-runs',
  enforce: 'pre',
  resolveId: (source, importer) =>
    source === 'vitest' && importer?.startsWith(at('test/unit/'))
      ? at('test/support/runner/one-test-per-table.ts')
      : undefined,
  transform: (code, id) =>
    FOLDERS.some((folder) => id.startsWith(at(folder)))
      ? { code: withoutCounting(withMostPasses(code)), map: null }
      : undefined,
  // Stryker requests the line of each test, which costs a stack trace. Only incremental runs need it.
  configureVitest: ({ project }) => {
    project.config.includeTaskLocation = false;
  },
};

/** The tests that a mutation run (stryker.config.ts) runs for every mutant. */
export default defineConfig({
  plugins: [quickRuns],
  test: {
    include: FOLDERS.map((folder) => `test/unit/${folder}**/*.test.ts`),
    // These tests measure the cost of matching with long texts and many keywords, not its results.
    exclude: ['test/unit/shared/matching/monitor-index-work.test.ts'],
    setupFiles: ['test/support/runner/mutation-setup.ts'],
    sequence: { sequencer: ExamplesFirst },
    // Test files share only the constant tables of the code, so one worker per run is enough.
    isolate: false,
    // The first run, which counts, takes ten times as long as the other runs.
    testTimeout: 120_000,
  },
});
