import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SQL = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|LISTEN|NOTIFY|ALTER TABLE|CREATE|DROP|WITH)\b/;
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;
/** Files whose statements are put together from pieces that the code alone chooses. */
const BUILDS_STATEMENTS = new Set([
  // Conditions and order by the query's options; values are ClickHouse parameters.
  'shared/matches/archived-comments.ts',
  // Groups and interval by the query's options; ids of monitors, which are too long as a parameter.
  'shared/matches/match-series.ts',
  // Conditions by the rule, with every word as an escaped literal; ids that are letters and digits.
  'shared/archive/archived-candidates.ts',
  'shared/archive/archived-item.ts',
  // Tables and columns that are declared there, and on the page and in the description that name them.
  'shared/accounts/statement-rows.ts',
  'services/api/dashboard/sql-page.ts',
  'services/api/sql/sql-route.ts',
  // The columns of a customer's result, in a process that holds nothing else.
  'services/api/sql/sql-box-main.ts',
  // Tables, columns and times that are declared there.
  'shared/notices/outboxes.ts',
  'shared/maintenance/retention.ts',
  'shared/maintenance/erasure.ts',
  'shared/maintenance/sealed-columns.ts',
  // The names of the two tables of matches.
  'shared/clickhouse/erase-monitors.ts',
]);

/** SQL in which something other than a constant is inserted: lines, from 1. */
function insertions(source: string): number[] {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true);
  const lines: number[] = [];
  const lineOf = (node: ts.Node) => file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const visit = (node: ts.Node): void => {
    // What is inserted into a template of a tag (shared/postgres/sql.ts) is a parameter.
    if (ts.isTemplateExpression(node) && !ts.isTaggedTemplateExpression(node.parent) && SQL.test(node.getText())) {
      const inserted = node.templateSpans.map(({ expression }) => expression.getText());
      if (!inserted.every((text) => CONSTANT.test(text))) lines.push(lineOf(node));
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
      if (ts.isStringLiteralLike(node.left) && SQL.test(node.left.text)) lines.push(lineOf(node));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return lines;
}

test('SQL gets its values as parameters, never as text', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'shared', 'services'], {
    cwd: ROOT,
  });
  const files = listed
    .toString()
    .split('\n')
    .filter((file) => file.endsWith('.ts') && !BUILDS_STATEMENTS.has(file));
  expect(files.length).toBeGreaterThan(150);
  const found = files.flatMap((file) =>
    insertions(readFileSync(join(ROOT, file), 'utf8')).map((line) => `${file}:${line}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ['db.query(`SELECT 1 FROM t WHERE id = ${id}`)', [1]],
  ["\ndb.query('DELETE FROM t WHERE id = ' + id)", [2]],
  ['db.query(`LISTEN ${CHANNEL}`)', []],
  ['readRows(db)`SELECT 1 FROM t WHERE id = ${id}`', []],
  ['db.query(`SELECT ${COLUMNS} FROM t WHERE id = $1`, [id])', []],
  ['throw new Error(`there is no ${name}`)', []],
])('the rule about %j: %j', (source, lines) => {
  expect(insertions(source)).toEqual(lines);
});
