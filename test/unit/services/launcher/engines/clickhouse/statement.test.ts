import { describe, expect, test } from 'vitest';
import {
  hasSeveralStatements,
  setStatement,
} from '../../../../../../services/launcher/engines/clickhouse/statement.ts';

describe('setStatement', () => {
  test('quotes values', () => {
    expect(setStatement({ settings: { max_threads: '2', param_a: `it's \\ fine` } })).toBe(
      `SET max_threads = '2', param_a = 'it\\'s \\\\ fine'`,
    );
  });

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
