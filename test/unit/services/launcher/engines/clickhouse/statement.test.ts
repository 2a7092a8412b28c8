import { describe, expect, test } from 'vitest';
import {
  countInsertedRows,
  firstWord,
  hasSeveralStatements,
  outputFormat,
  parseStatement,
  setStatement,
} from '../../../../../../services/launcher/engines/clickhouse/statement.ts';

const parse = (search: string, body = '', headers: Record<string, string> = {}) =>
  parseStatement(new URLSearchParams(search), headers, body, false);

describe('parseStatement', () => {
  test('takes the statement from the URL or the body', () => {
    expect(parse('query=SELECT+1').sql).toBe('SELECT 1');
    expect(parse('', 'SELECT 1').sql).toBe('SELECT 1');
  });

  test('appends the body to an INSERT in the URL', () => {
    expect(parse('query=INSERT+INTO+t+FORMAT+JSONEachRow', '{"a":1}').sql).toBe(
      'INSERT INTO t FORMAT JSONEachRow\n{"a":1}',
    );
  });

  test('keeps settings and placeholders, and drops what belongs to HTTP', () => {
    const { settings } = parse('query=x&max_threads=2&param_id=7&query_id=q&wait_end_of_query=1&database=d&user=u');
    expect(settings).toEqual({ max_threads: '2', param_id: '7' });
  });

  test('takes database and format from the URL, then from headers, then the defaults', () => {
    const headers = { 'x-clickhouse-database': 'h', 'x-clickhouse-format': 'CSV' };
    expect(parse('query=x&database=d&default_format=JSON', '', headers)).toMatchObject({
      database: 'd',
      defaultFormat: 'JSON',
    });
    expect(parse('query=x', '', headers)).toMatchObject({ database: 'h', defaultFormat: 'CSV' });
    expect(parse('query=x')).toMatchObject({ database: 'default', defaultFormat: 'TabSeparated' });
  });
});

describe('setStatement', () => {
  test('quotes values', () => {
    expect(setStatement({ settings: { max_threads: '2', param_a: `it's \\ fine` } })).toBe(
      `SET max_threads = '2', param_a = 'it\\'s \\\\ fine'`,
    );
  });

  test('is nothing without settings', () => expect(setStatement({ settings: {} })).toBeUndefined());

  test.each(['a = 1, b', 'a;b', '', "a'"])('refuses the name %j', (name) => {
    expect(() => setStatement({ settings: { [name]: '1' } })).toThrow(/UNKNOWN_SETTING/);
  });
});

describe('hasSeveralStatements', () => {
  test.each([
    ['SELECT 1', false],
    ['SELECT 1;', false],
    ['SELECT 1;;  \n-- end\n', false],
    ["SELECT ';' -- a; b", false],
    ['SELECT `a;b`, ";" /* ; */', false],
    ["SELECT 'it''s; \\'fine;'", false],
    ['SELECT 1; SELECT 2', true],
    ['SELECT 1; /* x */ DROP TABLE t', true],
    ["SELECT ''; SET readonly = 0", true],
    ['INSERT INTO t SELECT 1; SELECT 2', true],
  ])('%j: %s', (sql, expected) => expect(hasSeveralStatements(sql)).toBe(expected));
});

describe('the rest of a statement', () => {
  test.each([
    ['SELECT 1 FORMAT CSV', 'CSV'],
    ['select 1 format JSON;', 'JSON'],
    ['SELECT 1 FORMAT Parquet SETTINGS max_threads = 1', 'Parquet'],
    ['SELECT format FORMAT JSON', 'JSON'],
    ["SELECT 'x;y' FORMAT CSV SETTINGS a = 1 ; ", 'CSV'],
    ['SELECT 1', 'TabSeparated'],
  ])('%j answers in %s', (sql, format) => expect(outputFormat(parse('', sql))).toBe(format));

  test('inserted rows that read like a format are not one', () => {
    const rows = '{"a":"x FORMAT CSV SETTINGS y"}\n{"a":1}';
    expect(outputFormat(parse('query=INSERT+INTO+t+FORMAT+JSONEachRow', rows))).toBe('TabSeparated');
    expect(outputFormat(parse('query=INSERT+INTO+t+FORMAT+JSONEachRow'))).toBe('JSONEachRow');
  });

  test('finds the first word behind comments', () => {
    expect(firstWord('-- a\n /* b */ insert into t')).toBe('INSERT');
    expect(firstWord('(SELECT 1)')).toBe('');
  });

  test('counts the rows of an INSERT by lines', () => {
    expect(countInsertedRows(parse('query=INSERT+INTO+t+FORMAT+JSONEachRow', '{"a":1}\n{"a":2}\n'))).toBe(2);
    expect(countInsertedRows(parse('query=INSERT+INTO+t+FORMAT+JSONEachRow'))).toBe(0);
    expect(countInsertedRows(parse('', 'SELECT 1 FORMAT CSV'))).toBe(0);
    expect(countInsertedRows(parse('', 'INSERT INTO t FORMAT CSV\n\n1\n2\n\n3\n\n'))).toBe(4);
  });
});
