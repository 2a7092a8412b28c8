import { expect, test } from 'vitest';
import { statementsOf } from '../../../../shared/clickhouse/migrate-clickhouse.ts';

test.each([
  ['one statement without a semicolon', 'SELECT 1', ['SELECT 1']],
  ['two statements with an empty one between', 'SELECT 1;\n;\nSELECT 2;\n', ['SELECT 1', 'SELECT 2']],
  ['a semicolon inside a line does not end a statement', "SELECT ';', 2;\n", ["SELECT ';', 2"]],
  ['a comment that ends with a semicolon', '-- first;\n-- second;\nSELECT 1;\n', ['SELECT 1']],
  ['a comment within a statement', 'SELECT\n  -- why;\n  1;\n', ['SELECT\n\n  1']],
  ['a file that ends with a comment', 'SELECT 1;\n-- the end', ['SELECT 1']],
  ['a file of comments', '-- nothing\n', []],
  ['CRLF line endings', 'SELECT 1;\r\nSELECT 2;\r\n', ['SELECT 1', 'SELECT 2']],
])('statementsOf: %s', (_, sql, expected) => {
  expect(statementsOf(sql)).toEqual(expected);
});
