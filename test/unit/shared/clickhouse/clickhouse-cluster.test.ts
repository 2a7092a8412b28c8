import { expect, test } from 'vitest';
import { insertOnce, onCluster } from '../../../../shared/clickhouse/clickhouse-cluster.ts';

test.each([
  [
    'CREATE TABLE IF NOT EXISTS a\n(\n    b String\n)\nENGINE = ReplacingMergeTree(b)\nORDER BY b',
    "CREATE TABLE IF NOT EXISTS a ON CLUSTER 'c'\n(\n    b String\n)\nENGINE = ReplicatedReplacingMergeTree(b)\nORDER BY b",
  ],
  [
    'CREATE TABLE IF NOT EXISTS a (b Int8)\n  ENGINE = MergeTree ORDER BY b',
    "CREATE TABLE IF NOT EXISTS a ON CLUSTER 'c' (b Int8)\n  ENGINE = ReplicatedMergeTree ORDER BY b",
  ],
  ['CREATE OR REPLACE VIEW a AS SELECT 1', "CREATE OR REPLACE VIEW a ON CLUSTER 'c' AS SELECT 1"],
  ['ALTER TABLE a ADD COLUMN b Int8', "ALTER TABLE a ON CLUSTER 'c' ADD COLUMN b Int8"],
  ['CREATE DATABASE IF NOT EXISTS a_sql', "CREATE DATABASE IF NOT EXISTS a_sql ON CLUSTER 'c'"],
])('%s', (statement, expected) => {
  expect(onCluster(statement, 'c')).toBe(expected);
});

test.each([
  'ALTER TABLE {table: Identifier} DELETE WHERE a = 1',
  'ALTER TABLE a DELETE WHERE b = 1',
  'ALTER TABLE matches DELETE WHERE b = 1',
  'SELECT 1',
])('%s stays as it is', (statement) => {
  expect(onCluster(statement, 'c')).toBe(statement);
});

test('the same rows have the same token, other rows another', () => {
  const token = (values: unknown) => insertOnce(values).insert_deduplication_token;
  expect(token([{ a: 1 }])).toBe(token([{ a: 1 }]));
  expect(token([{ a: 1 }])).not.toBe(token([{ a: 2 }]));
});
