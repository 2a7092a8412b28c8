import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { TestSpecification, Vite } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

const at = (path: string): string => join(import.meta.dirname, path);

/** The first failing test ends a mutant's run, so the tests that cost little come first: properties last. */
class ExamplesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const hasProperties = ({ moduleId }: TestSpecification) => readFileSync(moduleId, 'utf8').includes('fast-check');
    const sorted = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1));
    return [...sorted.filter((file) => !hasProperties(file)), ...sorted.filter(hasProperties)];
  }
}

/** The instrumented code counts how often each mutant is passed. That is needed once, while none of them is active. */
function withoutCounting(code: string): string {
  return code.replace('function cover() {', 'function cover() { if (ns.activeMutant) return;');
}

/**
 * An endless loop is ended by the number of mutants it passes, see test/support/runner/mutation-setup.ts; such a hit
 * count means a timeout.
 */
function withMostPasses(code: string): string {
  const endless = 'if (++ns.passes > ns.mostPasses) { ns.hitCount = Infinity; throw new Error("Endless loop"); }';
  return code.replace('function isActive(id) {', `function isActive(id) { ${endless}`);
}

/**
 * Each of these makes runs several times as quick; without them, or where they no longer apply, the verdicts are the
 * same.
 */
const quickRuns: Vite.Plugin = {
  name: 'quick-runs',
  enforce: 'pre',
  resolveId: (source, importer) =>
    source === 'vitest' && importer?.startsWith(at('test/unit/'))
      ? at('test/support/runner/one-test-per-table.ts')
      : undefined,
  transform: (code, id) =>
    id.startsWith(at('shared/matching/')) ? { code: withoutCounting(withMostPasses(code)), map: null } : undefined,
  // Stryker asks for the line of each test, which takes a stack trace, but needs it for incremental runs only.
  configureVitest: ({ project }) => {
    project.config.includeTaskLocation = false;
  },
};

/** What a mutation run (stryker.config.ts) runs for every mutant: the unit tests of shared/matching, made quick. */
export default defineConfig({
  plugins: [quickRuns],
  test: {
    include: ['test/unit/shared/matching/**/*.test.ts'],
    // Long texts and many keywords show what matching costs, not what it finds.
    exclude: ['test/unit/shared/matching/monitor-index-work.test.ts'],
    setupFiles: ['test/support/runner/mutation-setup.ts'],
    sequence: { sequencer: ExamplesFirst },
    // Test files share nothing but the tables of the code, so one worker per run will do instead of one per file.
    isolate: false,
    // The first run, which counts, takes ten times as long as the others.
    testTimeout: 120_000,
  },
});
