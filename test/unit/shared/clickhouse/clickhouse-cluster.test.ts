import { expect, test } from 'vitest';
import { insertOnce, onCluster } from '../../../../shared/clickhouse/clickhouse-client.ts';

// Statements of migrations are tested with ClickHouse's own parser.
test.each(['ALTER TABLE {table: Identifier} DELETE WHERE a = 1', 'ALTER TABLE matches DELETE WHERE b = 1', 'SELECT 1'])(
  '%s stays as it is',
  (statement) => {
    expect(onCluster(statement, 'c')).toBe(statement);
  },
);

test('the same rows have the same token, other rows another', () => {
  const token = (values: unknown) => insertOnce(values).insert_deduplication_token;
  expect(token([{ a: 1 }])).toBe(token([{ a: 1 }]));
  expect(token([{ a: 1 }])).not.toBe(token([{ a: 2 }]));
});
