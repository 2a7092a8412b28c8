import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MAX_FILES = 22;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));
const sources = files.filter((file) =>
  /^(schemas|shared|services|scripts|test\/support|test\/bench)\/.*\.ts$/.test(file),
);

/** The source that a unit test's path names: its own name, or a longer one that ends with `-ASPECT`. */
function sourceOf(unitTest: string): string | undefined {
  const path = unitTest.replace(/^test\/unit\//, '').replace(/\.(test|cases)\.ts$/, '');
  const isNamed = (source: string) => path === source || path.startsWith(`${source}-`);
  return sources.find((source) => isNamed(source.replace(/^test\//, '').replace(/\.ts$/, '')));
}

describe('layout', () => {
  test('a unit test has the path of the file that it tests', () => {
    const tests = files.filter((file) => /^test\/unit\/.*\.test\.ts$/.test(file));
    expect(tests.length).toBeGreaterThan(100);
    expect(tests.filter((file) => sourceOf(file) === undefined)).toEqual([]);
  });

  test(`a folder has at most ${MAX_FILES} files`, () => {
    const counts = new Map<string, number>();
    // Migrations are only ever added.
    for (const file of files.filter((name) => !/^schemas\/postgres\/\d/.test(name)))
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  });

  test('integration tests lie in a folder of their area, benchmarks in a folder of their name', () => {
    const flat = files.filter((file) =>
      /^test\/(integration|support)\/[^/]+\.ts$|^test\/bench\/(?!main)[^/]+\.ts$/.test(file),
    );
    expect(flat).toEqual([]);
  });
});
