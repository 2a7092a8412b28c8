import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { TestSpecification, Vite } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

const FEW_RUNS = join(import.meta.dirname, 'test/support/few-property-runs.ts');

/** The first failing test ends a mutant's run, so the tests that cost little come first: properties last. */
class ExamplesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const hasProperties = ({ moduleId }: TestSpecification) => readFileSync(moduleId, 'utf8').includes('fast-check');
    const sorted = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1));
    return [...sorted.filter((file) => !hasProperties(file)), ...sorted.filter(hasProperties)];
  }
}

const fewPropertyRuns: Vite.Plugin = {
  name: 'few-property-runs',
  enforce: 'pre',
  resolveId: (source, importer) => (source === 'fast-check' && importer !== FEW_RUNS ? FEW_RUNS : undefined),
  // Stryker asks for the line of every test, which it needs only for incremental runs. To find them takes longer than most runs.
  configureVitest: ({ project }) => {
    project.config.includeTaskLocation = false;
  },
};

/** What a mutation run (stryker.config.ts) runs again and again: the unit tests of shared/matching, made quick. */
export default defineConfig({
  plugins: [fewPropertyRuns],
  test: {
    include: ['test/unit/matching-*.test.ts'],
    // Texts of a megabyte show what a text costs, not what it matches; they multiply the time of every mutant.
    exclude: ['test/unit/matching-cost*.test.ts'],
    sequence: { sequencer: ExamplesFirst },
    // The tests share no state but the modules' own tables, so one worker per run will do instead of one per file.
    isolate: false,
    testTimeout: 30_000,
  },
});
