import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** Files that a running installation or another program writes; READMEs name them. */
const WRITTEN_ELSEWHERE = /(endpoints|ports|simulator|openapi|mcp)\.json$/;
/** `start-NAME.ts`: any file of that form. README and the like are written so, too, and a dead link fails elsewhere. */
const PLACEHOLDER = /[A-Z]{3}[^/]*\.(ts|md)$/;
/** Names of other programs and libraries. */
const FOREIGN_NAMES = new Set(['getCount', 'sched_autogroup_enabled']);

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The comments of a TypeScript file, or the text of a README without its code blocks. */
function prose(file: string): string {
  if (file.endsWith('.md')) return read(file).replace(/```[^]*?```/g, '');
  return (read(file).match(/\/\*[^]*?\*\/|(^|\s)\/\/ [^\n]*/g) ?? []).join('\n');
}

function identifiers(): Set<string> {
  const words = new Set<string>();
  for (const file of files.filter((name) => /\.(ts|js|mjs|json|sql|sh|yaml|xml)$/.test(name))) {
    const code = file.endsWith('.ts') ? read(file).replace(/\/\*[^]*?\*\/|(^|\s)\/\/ [^\n]*/g, ' ') : read(file);
    for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g)) words.add(word);
  }
  return words;
}

/** The backticked file names and camelCase or CONSTANT_CASE names in a text. */
function namesIn(text: string): { paths: string[]; names: string[] } {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name!);
  const paths = quoted.filter((name) => /^[\w./-]+\.(ts|md|sql|json|mjs|sh)$/.test(name));
  const names = quoted.filter((name) => /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*(\(\))?$/.test(name));
  return { paths, names: names.filter((name) => !paths.includes(name) && /[A-Z_]|\(\)/.test(name.slice(1))) };
}

describe('comments and READMEs', () => {
  const documents = files.filter((file) => /\.(ts|md)$/.test(file));

  test('name only files that exist', () => {
    const known = files.join('\n');
    const exists = (path: string) =>
      WRITTEN_ELSEWHERE.test(path) || PLACEHOLDER.test(path) || known.includes(path.replace(/^(\.\.?\/)+/, ''));
    const missing = documents.flatMap((file) =>
      namesIn(prose(file))
        .paths.filter((path) => !exists(path))
        .map((path) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  test('name only functions, types and settings that exist', () => {
    const known = identifiers();
    const exists = (name: string) =>
      FOREIGN_NAMES.has(name) ||
      name
        .replace('()', '')
        .split('.')
        .every((part) => known.has(part));
    const missing = documents.flatMap((file) =>
      namesIn(prose(file))
        .names.filter((name) => !exists(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test('the search for names finds one that does not exist', () => {
    expect(namesIn('calls `sendEverything()` of `no-such-file.ts`, then `CONSTANT_NAME`, `plain` and `200`')).toEqual({
      paths: ['no-such-file.ts'],
      names: ['sendEverything()', 'CONSTANT_NAME'],
    });
  });
});
