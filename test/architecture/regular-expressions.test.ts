import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESLint } from 'eslint';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const RULES = ['regexp/no-super-linear-backtracking', 'regexp/no-super-linear-move'];

/** What the rules of `npm run check` say about this code as a file of the product. */
async function findingsIn(code: string): Promise<(string | null)[]> {
  const eslint = new ESLint({
    cwd: ROOT,
    flags: ['unstable_native_nodejs_ts_config'],
    // Types do not matter here and would have to be worked out for the whole repository.
    overrideConfig: { languageOptions: { parserOptions: { projectService: false } } },
    ruleFilter: ({ ruleId }) => RULES.includes(ruleId),
  });
  const [result] = await eslint.lintText(code, { filePath: join(ROOT, 'shared/rules/forum-reference.ts') });
  return result!.messages.map(({ ruleId }) => ruleId);
}

test.each([
  [
    'the second row of a table, 0.9 s for 40,000 characters',
    String.raw`/^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/`,
  ],
  ['a fence', String.raw`/^(?:(~{3,}).*)$/`],
  ['blanks at the end', String.raw`/\s+$/`],
  ['an expression put together', String.raw`new RegExp('^(a+)+$')`],
])('an expression whose time grows faster than the text is found: %s', async (_what, expression) => {
  expect(await findingsIn(`export const found = ${expression};\n`)).not.toEqual([]);
});

test('what grows with the text is allowed', async () => {
  expect(await findingsIn('export const fine = /^[a-z]+(?:-[a-z]+)*$/;\n')).toEqual([]);
});

test('no file is excused from these rules', () => {
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'schemas', 'shared', 'services', 'scripts'],
    { cwd: ROOT },
  );
  const sources = files
    .toString()
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
  const excused = sources.filter((file) => /eslint-disable[^\n]*regexp\//.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(excused).toEqual([]);
});
