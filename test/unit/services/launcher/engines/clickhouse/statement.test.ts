import { describe, expect, test } from 'vitest';
import { setStatement } from '../../../../../../services/launcher/engines/clickhouse/statement.ts';

describe('setStatement', () => {
  test('quotes values', () => {
    expect(setStatement({ max_threads: '2', param_a: `it's \\ fine` })).toBe(
      `SET max_threads = '2', param_a = 'it\\'s \\\\ fine'`,
    );
  });

  test.each(['a = 1, b', 'a;b', '', "a'"])('refuses the name %j', (name) => {
    expect(() => setStatement({ [name]: '1' })).toThrow(/UNKNOWN_SETTING/);
  });
});
