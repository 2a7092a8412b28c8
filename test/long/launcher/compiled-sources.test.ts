import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileSources } from '../../../services/launcher/compile-sources.ts';
import { NODE_ARGUMENTS } from '../../../services/launcher/services-child.ts';

const ROOT = join(import.meta.dirname, '../../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forum-test-compiled-'));
  compileSources(folder);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Loads a program without running it, as compileSources does, and tells whether Node loaded its type stripper. */
function loadsStripper(entry: string, { nodeArguments, cache }: { nodeArguments: string[]; cache: string }): boolean {
  const url = pathToFileURL(join(ROOT, entry)).href;
  const program = `const text = 'import ${JSON.stringify(url)}; import { nothing } from "node:module"';
    const reason = await import('data:text/javascript,' + encodeURIComponent(text)).catch(String);
    console.log(JSON.stringify({ reason, stripper: process.moduleLoadList.some((name) => name.includes('deps/amaro')) }));`;
  const printed = execFileSync(process.execPath, [...nodeArguments, '--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    encoding: 'utf8',
  });
  const { reason, stripper } = JSON.parse(printed) as { reason: string; stripper: boolean };
  expect(reason).toContain('nothing');
  return stripper;
}

test.each([
  ['services/main.ts', []],
  ['services/launcher/engines/clickhouse/clickhouse-main.ts', []],
  ['services/services-main.ts', NODE_ARGUMENTS],
])('%s starts without the type stripper after an install', (entry, nodeArguments) => {
  expect(loadsStripper(entry, { nodeArguments, cache: folder })).toBe(false);
});

test('a source that is not compiled needs the type stripper', () => {
  const empty = join(folder, 'empty');
  expect(loadsStripper('services/main.ts', { nodeArguments: [], cache: empty })).toBe(true);
});

test.each([
  { what: 'this process, where it can keep it', cache: () => folder, expected: {} },
  { what: 'DATA_DIR elsewhere', cache: () => '/dev/null/x', expected: { NODE_COMPILE_CACHE: '/data/cache/compiled' } },
])('compiled code is in the folder of $what', ({ cache, expected }) => {
  const url = pathToFileURL(join(ROOT, 'services/launcher/services-environment.ts')).href;
  const program = `const { compileCache } = await import(${JSON.stringify(url)});
    console.log(JSON.stringify(compileCache({ dataDir: '/data' })));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache() },
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toEqual(expected);
});
