/**
 * `npm run --silent bench:compare -- BASE --bench 'NAME ARGUMENTS' [--bench …] [--rounds N]`: runs benchmarks of the
 * commit BASE and of this working tree in turn, N rounds (5), and prints for each figure the ratio of the two with its
 * 95 % interval, as JSON lines. On a shared machine only such a ratio holds; an interval without 1 is a difference.
 *
 * BASE is checked out into a temporary folder. It uses this node_modules if its package-lock.json is the same, and
 * installs its own otherwise.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareFigures } from './compare-figures.ts';
import type { ResultLine, Round } from './compare-figures.ts';

const USAGE = `Usage: npm run --silent bench:compare -- BASE --bench 'NAME ARGUMENTS' [--bench …] [--rounds N]
Example: npm run --silent bench:compare -- HEAD~1 --bench 'recorder --seconds 10' --rounds 5`;
const ROOT = join(import.meta.dirname, '../../..');

const { base, benches, rounds } = readArguments();
// Ctrl-C ends the benchmark that runs, and so this program after it has cleaned up.
process.on('SIGINT', () => undefined);
const folder = mkdtempSync(join(tmpdir(), 'forum-bench-base-'));
try {
  checkOut(base, folder);
  for (const bench of benches) {
    for (const comparison of compareFigures(await runRounds(bench))) {
      console.log(JSON.stringify({ bench, rounds, ...comparison }));
    }
  }
} finally {
  git('worktree', 'remove', '--force', folder);
  rmSync(folder, { recursive: true, force: true });
}

function readArguments(): { base: string; benches: string[]; rounds: number } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { bench: { type: 'string', multiple: true, default: [] }, rounds: { type: 'string', default: '5' } },
    });
    const [name, ...others] = positionals;
    const count = Number(values.rounds);
    if (name === undefined || others.length > 0) throw new Error('Name one commit.');
    if (values.bench.length === 0) throw new Error('Name at least one benchmark.');
    if (!Number.isInteger(count) || count < 3 || count > 100) throw new Error('--rounds: from 3 to 100.');
    return { base: commitOf(name), benches: values.bench, rounds: count };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(1);
  }
}

function commitOf(name: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).trim();
  } catch {
    throw new Error(`${name} is no commit of this repository.`);
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}

function checkOut(commit: string, into: string): void {
  git('worktree', 'add', '--force', '--detach', into, commit);
  const lock = 'package-lock.json';
  if (readFileSync(join(into, lock), 'utf8') === readFileSync(join(ROOT, lock), 'utf8')) {
    symlinkSync(join(ROOT, 'node_modules'), join(into, 'node_modules'));
    return;
  }
  console.error(`${commit} has other dependencies, which are installed`);
  execFileSync('npm', ['ci'], { cwd: into, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Who runs first alternates, so that a machine that grows slower or faster favours nobody. */
async function runRounds(bench: string): Promise<Round[]> {
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`${bench}: round ${round} of ${rounds}`);
    const run = { base: () => runBench(bench, folder), now: () => runBench(bench, ROOT) };
    const [first, second] = round % 2 === 1 ? (['base', 'now'] as const) : (['now', 'base'] as const);
    const lines = { [first]: await run[first](), [second]: await run[second]() };
    measured.push({ base: lines.base!, now: lines.now! });
  }
  return measured;
}

/** @throws Error when the benchmark fails */
async function runBench(bench: string, cwd: string): Promise<ResultLine[]> {
  const args = ['test/bench/main.ts', ...bench.trim().split(/\s+/)];
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (code !== 0) throw new Error(`${bench} in ${cwd} ended with ${String(code)}`);
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as ResultLine);
}
