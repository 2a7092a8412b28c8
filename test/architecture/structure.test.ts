import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { referencePages } from '../../scripts/write-reference.ts';

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

test('the reference pages are those that `npm run reference` writes', async () => {
  for (const [file, text] of Object.entries(await referencePages())) expect(read(`docs/reference/${file}`)).toBe(text);
});

test('links between documents lead to a file, and to a heading in it', () => {
  const headings = (file: string) =>
    [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  const isDead = (file: string, heading: string) =>
    !existsSync(join(ROOT, file)) || (heading !== '' && file.endsWith('.md') && !headings(file).includes(heading));
  const dead = filesLike('*.md').flatMap((file) =>
    [...read(file).matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g)]
      .filter(([, path, heading]) => isDead(path === '' ? file : join(dirname(file), path!), heading!))
      .map(([link]) => `${file}: ${link}`),
  );
  expect(dead).toEqual([]);
});

test('the tests that test/README.md names exist', () => {
  const named = [...read('test/README.md').matchAll(/`((?:architecture|unit|integration|long)\/[^`]+)`/g)];
  expect(named.length).toBeGreaterThan(50);
  expect(named.map(([, name]) => `test/${name!}.test.ts`).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
