import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Fields with an underscore in exported types and in the signatures of exported functions. */
function columnNames(source: string): string[] {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    // What a function does with its rows inside is its own business.
    if (ts.isBlock(node)) return;
    if (ts.isPropertySignature(node) && node.name.getText().includes('_')) found.push(node.name.getText());
    ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) visit(statement);
  }
  return found;
}

test('what stores take and return has camelCase fields: the names of columns stay inside', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'shared/stores'], {
    cwd: ROOT,
  });
  const files = listed
    .toString()
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(30);
  const found = files.flatMap((file) =>
    columnNames(readFileSync(join(ROOT, file), 'utf8')).map((name) => `${file}: ${name}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ['export interface Stored { created_at: Date; id: string }', ['created_at']],
  ['export type Stored = { owed: number } & { last_used_at: Date | null }', ['last_used_at']],
  ['export function find(): Promise<{ account_id: string }> { return never(); }', ['account_id']],
  ['export function find(page: { after_id: string }): void {}', ['after_id']],
  ['export function find(): void { db.query<{ account_id: string }>("SELECT account_id FROM t"); }', []],
  ['interface Row { created_at: Date }', []],
  ['export interface Stored { createdAt: Date }', []],
])('the rule about %j: %j', (source, names) => {
  expect(columnNames(source)).toEqual(names);
});
