/**
 * `npm test`: runs vitest and ends with the line `N passed, M failed`. Arguments go to vitest, for instance
 * `npm test -- --project unit` or `npm test -- test/unit/shared/runtime/config.test.ts`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findSecrets } from './find-secrets.ts';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTotalTests: number;
  testResults: { name: string; status: string; assertionResults: unknown[] }[];
}

/** The docker command may be installed without an engine behind it: ask the socket. */
function dockerAnswers(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(process.env.DOCKER_HOST?.replace('unix://', '') ?? '/var/run/docker.sock');
    socket.once('connect', () => {
      socket.end();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/**
 * Prints the lines of the tests' logs that hold a secret; answers how many there are, undefined when nothing was
 * logged.
 */
function findLeaks(logFile: string): number | undefined {
  const text = existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
  // An installation also prints for people where the demo key is; what is logged is JSON.
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  if (lines.length === 0) return undefined;
  const leaks = findSecrets(lines.join('\n'));
  for (const { what, line } of leaks.slice(0, 20)) console.error(`A log holds ${what}: ${line.slice(0, 500)}`);
  console.log(`The logs of all tests, ${lines.length} lines, hold ${leaks.length} secrets.`);
  return leaks.length;
}

async function main(): Promise<number> {
  if (process.env.TEST_ENGINES === 'containers' && !(await dockerAnswers())) {
    console.error('TEST_ENGINES=containers needs a running Docker engine; none answers here.');
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'forum-test-report-'));
  const output = join(folder, 'report.json');
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`];
  const logFile = join(folder, 'tests.log');
  const compileCache = join(folder, 'compile-cache');
  // Beside the first tests. A part of the tests starts few processes, which would not save what this takes.
  if (process.argv.length === 2) {
    const compiler = join(import.meta.dirname, 'compile-children.ts');
    spawn(process.execPath, [compiler, compileCache], { stdio: 'ignore' }).unref();
  }
  const run = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_LOG_FILE: logFile,
      // Tests start some 150 Node processes. Loading what was compiled before halves the time of a start.
      NODE_COMPILE_CACHE: compileCache,
    },
  });
  let report: Report | undefined;
  try {
    report = JSON.parse(readFileSync(output, 'utf8')) as Report;
  } catch {
    console.error('The test runner left no report.');
  }
  const leaks = findLeaks(logFile);
  // What the processes of a failed test logged may be all there is to find its cause.
  if (run.status !== 0 && existsSync(logFile)) {
    renameSync(logFile, `${folder}.log`);
    console.log(`The logs of all tests are kept in ${folder}.log.`);
  }
  // A child process that ends late may still write its compile cache.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  if (!report) {
    console.log('0 passed, 1 failed');
    return 1;
  }
  // A file that could not be loaded holds no tests, yet it failed.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  const counted = report.numFailedTests + brokenFiles.length;
  // A set-up that failed, or an error outside of any test, is a failure too.
  const ownFailures = counted === 0 && run.status !== 0 ? 1 : counted;
  const failed = ownFailures + ((leaks ?? 0) > 0 ? 1 : 0);
  const skipped = report.numPendingTests > 0 ? `, ${report.numPendingTests} skipped` : '';
  // That the logs hold no secret counts as a test of its own.
  const passed = report.numPassedTests + (leaks === 0 ? 1 : 0);
  console.log(`${passed} passed, ${failed} failed${skipped}`);
  return run.status === 0 && failed === 0 && report.numPassedTests > 0 ? 0 : 1;
}

process.exit(await main());
