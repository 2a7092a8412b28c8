/**
 * Mutation tests of shared/matching, or of the files that are named: `npm run mutate -- shared/matching/units.ts`, with
 * a range of lines `units.ts:20-40`. Ends with exit code 1 when less than 85 % of the mutants are detected. Settings:
 * stryker.config.ts.
 */
import { existsSync } from 'node:fs';
import { Stryker } from '@stryker-mutator/core';

const files = process.argv.slice(2);
// To Stryker a wrong name is an empty glob: it would test nothing and be content.
const wrong = files.filter(
  (file) => !/^shared\/matching\/.*\.ts(:|$)/.test(file) || !existsSync(file.replace(/:.*/, '')),
);
if (wrong.length > 0) {
  console.error(`No file of shared/matching: ${wrong.join(', ')}`);
  process.exitCode = 1;
} else {
  await new Stryker({
    configFile: 'stryker.config.ts',
    ...(files.length > 0 ? { mutate: files } : {}),
  }).runMutationTest();
}
