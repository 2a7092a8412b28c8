import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The project's files, untracked ones too: what is about to be committed must hold the rules. */
function filesLike(pattern: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', pattern], {
    cwd: ROOT,
  });
  const files = listed
    .toString()
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
  expect(files.length).toBeGreaterThan(10);
  return files;
}

const productFiles = () => filesLike('*.ts').filter((file) => !file.startsWith('test/') && file !== 'vitest.config.ts');

test('the environment is handed to the configuration by programs only', () => {
  const allowed = /(^|\/)([a-z-]*main|config)\.ts$|^services\/launcher\//;
  expect(productFiles().filter((file) => !allowed.test(file) && /(?<!\{)process\.env/.test(read(file)))).toEqual([]);
});

test('only programs end the process', () => {
  const allowed = /(^|\/)[a-z-]*main\.ts$|^shared\/runtime\//;
  expect(productFiles().filter((file) => !allowed.test(file) && /process\.exit\(/.test(read(file)))).toEqual([]);
});

test('the table of settings has every environment variable that the configuration reads, and no other', () => {
  const variables =
    /const VARIABLES = z\.object\(\{\n([^]*?)\n\}\);/.exec(read('shared/runtime/environment.ts'))?.[1] ?? '';
  const readNames = [...variables.matchAll(/^ {2}([A-Z_\d]+):/gm)].map(([, name]) => name!);
  const rows =
    /\n\| name +\| default[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/.exec(read('docs/reference/configuration.md'))?.[1] ?? '';
  const documented = rows
    .split('\n')
    .flatMap((row) => row.split('|')[1]?.split(',') ?? [])
    .map((name) => name.trim());
  expect(readNames.length).toBeGreaterThan(30);
  // The parent process sets FORUM_… for its children; only tests and benchmarks read RECORDED_RESPONSES.
  const expected = [...readNames.filter((name) => !name.startsWith('FORUM_')), 'RECORDED_RESPONSES'];
  expect(documented.sort()).toEqual(expected.sort());
});

test('links between documents lead somewhere', () => {
  const dead = filesLike('*.md').flatMap((file) =>
    [...read(file).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(ROOT, dirname(file), target)))
      .map((target) => `${file}: ${target}`),
  );
  expect(dead).toEqual([]);
});
