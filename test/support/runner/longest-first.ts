import { relative } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';
import { SLOTS } from './installation-slots.ts';
import { orderFiles } from './order-files.ts';
import { SECONDS_OF_SLOW_FILES } from './slow-files.ts';

const ROOT = `${import.meta.dirname}/../../..`;
/** What a file takes on average that is not among the slow ones. */
const SECONDS_BY_PROJECT: Readonly<Record<string, number>> = { integration: 4, unit: 0.5 };

/** Vitest's order of files: see orderFiles(). */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const workers = files[0]?.project.config.maxWorkers ?? 1;
    const timed = files.map((specification) => {
      const path = relative(ROOT, specification.moduleId);
      const seconds = SECONDS_OF_SLOW_FILES[path] ?? SECONDS_BY_PROJECT[specification.project.name] ?? 1;
      return { specification, path, seconds, needsSlot: specification.project.name === 'end-to-end' };
    });
    return orderFiles(timed, { workers, slots: SLOTS }).map(({ specification }) => specification);
  }
}
