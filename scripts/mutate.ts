/**
 * Runs mutation tests of shared/matching and shared/monitors/rules or of the given files:
 * `npm run mutate -- shared/matching/text/tokens.ts`, or with a line range `tokens.ts:20-40`. Exits with code 1 when
 * less than 85 % of the mutants are detected. Settings: stryker.config.ts.
 */
import { existsSync } from 'node:fs';
import { Stryker } from '@stryker-mutator/core';

const files = process.argv.slice(2);
// Stryker treats a wrong name as an empty glob and would succeed without testing anything.
const wrong = files.filter(
  (file) => !/^shared\/(?:matching|domain\/rule-query)\/.*\.ts(:|$)/.test(file) || !existsSync(file.replace(/:.*/, '')),
);
if (wrong.length > 0) {
  console.error(
    `Not a .ts file below shared/matching or shared/monitors/rules: ${wrong.join(', ')}. Give paths such as shared/matching/text/tokens.ts.`,
  );
  process.exitCode = 1;
} else {
  await new Stryker({
    configFile: 'stryker.config.ts',
    ...(files.length > 0 ? { mutate: files } : {}),
  }).runMutationTest();
}
