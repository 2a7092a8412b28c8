// sum-reports.mjs CHECK (REPORT STATUS)…: 0 where the checks passed, then vitest's JSON report of each lane with
// the exit status of its run. Prints `N passed, M failed`, and how many were skipped.
import { readFileSync } from 'node:fs';

const [check, ...lanes] = process.argv.slice(2);
const sum = { passed: 0, failed: check === '0' ? 0 : 1, skipped: 0 };
for (let at = 0; at < lanes.length; at += 2) {
  let failed = 0;
  try {
    const report = JSON.parse(readFileSync(lanes[at], 'utf8'));
    // A file that cannot be loaded holds no tests, yet it failed.
    const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
    failed = report.numFailedTests + broken.length;
    sum.passed += report.numPassedTests;
    sum.skipped += report.numPendingTests;
  } catch (error) {
    console.error(`The lane left no report: ${error.message}`);
  }
  // A set-up that failed, an error outside of any test, or a secret in the logs.
  sum.failed += failed === 0 && lanes[at + 1] !== '0' ? 1 : failed;
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0;
